import Glibc
import StrataLog
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem
import Synchronization

// Saves records from several threads and prints what was acknowledged, until it is killed.
//   usage: store-child STORE FIRST-NUMBER [early | slowly]
// Each request saves the records N-0 to N-3 and `last`, all with the number N, for the user of its thread.
//   usage: store-child STORE FIRST-NUMBER shared SEQUENCE [early]
// Does the same in a copy of the store that a sequencer in a directory orders; `0` has an asset, too, with the number
// of the request and its thread. A tenth of the assets has the bytes of earlier ones.
//   usage: store-child STORE asset SOURCE COPY
// Imports a file, copies it out again, and prints how much memory that took at most, in KiB.
//   usage: store-child STORE cut FILE [read]
// Cuts a file of the store short while it is open, and prints how many records it finds then, after one more request,
// and when it was opened again. `read` looks at all of them before.
//   usage: store-child STORE limited MEBIBYTES
// Does the same within so much address space more than it has, but folds the state anew instead of cutting a file.
// `early` prints before the request instead of behind it: a bug, which whoever kills this must notice.
// `slowly` waits between requests, and longer when there are some hundred, so that a store does not grow beyond what a
// reader can look at in a moment.

let zone = ZoneID("Notes")

func request(_ number: UInt64, asset: FieldValue.Asset? = nil) -> Request {
    var request = Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest()))
    let zone = request.names.ordinal(of: zone)
    let type = request.names.ordinal(ofType: "Note")
    let fields = [
        FieldChange(request.names.ordinal(ofKey: "number"), .int64(Int64(number))),
        FieldChange(request.names.ordinal(ofKey: "text"), .string(String(repeating: "x", count: Int(number % 97) * 7))),
    ]
    let names = (0..<4).map { "\(number)-\($0)" } + ["last"]
    let photo = asset.map { FieldChange(request.names.ordinal(ofKey: "photo"), .asset($0)) }
    request.content = .modifyRecords(
        ModifyRecordsRequest(
            saves: names.enumerated().map { index, name in
                let photo = index == 0 ? [photo].compactMap(\.self) : []
                return .init(RecordKey(zone: zone, name: name), type: type, fields: fields + photo)
            }, policy: .allKeys))
    return request
}

func zoneRequest() -> Request {
    var request = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
    request.content = .modifyZones(ModifyZonesRequest(saves: [.init(request.names.ordinal(of: zone))]))
    return request
}

/// One call for each line: a line of this length goes into a pipe as a whole.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    let bytes = Array("store-child: \(reason)\n".utf8)
    _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    exit(2)
}

/// Imports the asset of a request. `Tests/StrataStoreTests/Replication/SharedKillTests.swift` knows the bytes.
func importPhoto(_ number: UInt64, into store: Store, beside path: String) throws -> PinnedAsset {
    let source = "\(path).photo-\(number)"
    let bytes = Array("photo \(number % 10 == 0 ? 0 : number)".utf8)
    let files = RealFileSystem()
    let file = try files.open(source, .writeOrCreate)
    defer {
        file.close()
        try? files.remove(source)
    }
    try file.write(bytes, at: 0)
    return try store.importAsset(at: source)
}

/// The most memory that this process has had, in KiB.
func peakKibibytes() throws -> Int {
    let status = try RealFileSystem().open("/proc/self/status", .read).read(count: 8_192, at: 0)
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let number = line.flatMap({ Int($0.filter(\.isNumber)) }) else { fail("no VmHWM in /proc/self/status") }
    return number
}

func importAsset(_ source: String, into path: String, copy: String) throws {
    var options = StoreOptions.service
    options.assetBytes = .max
    let store = try Store.open(at: path, options: options)
    let before = try peakKibibytes()
    let pin = try store.importAsset(at: source)
    try store.copyAsset(pin.value, to: copy)
    say("\(try peakKibibytes() - before)")
    try store.close()
}

/// Makes a store of 200 records, and closes it so that what is read next comes from the views.
func prepare(_ path: String) throws -> Store {
    let store = try Store.open(at: path)
    _ = try store.modify(zoneRequest(), as: Actor(user: "user-0"))
    for number in 0..<50 as Range<UInt64> { _ = try store.modify(request(number), as: Actor(user: "user-0")) }
    try store.close()
    return try Store.open(at: path)
}

func foundCount(_ store: Store) throws -> Int {
    let ids = (0..<60).flatMap { number in (0..<4).map { RecordID("\(number)-\($0)", zone: zone) } }
    let found = try store.snapshot().records(ids, in: DatabaseID(.private), as: Actor(user: "user-0"))
    return found.count { (try? $0.get()) != nil }
}

func cut(_ name: String, of path: String, reads: Bool) throws {
    var store = try prepare(path)
    if reads { _ = try foundCount(store) }
    let names = try name == "views" ? RealFileSystem().list("\(path)/views").map { "views/\($0)" } : [name]
    for name in names where !name.contains("state-") {
        guard truncate("\(path)/\(name)", 0) == 0 else { fail("no \(name)") }
    }
    say("\(try foundCount(store))")
    _ = try store.modify(request(50), as: Actor(user: "user-0"))
    say("\(try foundCount(store))")
    try store.close()
    store = try Store.open(at: path)
    say("\(try foundCount(store))")
    try store.close()
}

/// Virtual memory of this process in bytes.
func addressSpace() throws -> UInt64 {
    let status = try RealFileSystem().open("/proc/self/status", .read).read(count: 8_192, at: 0)
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmSize:") }
    guard let number = line.flatMap({ UInt64($0.filter(\.isNumber)) }) else { fail("no VmSize in /proc/self/status") }
    return number << 10
}

func limited(to mebibytes: UInt64, _ path: String) throws {
    let most = UInt(try addressSpace() + mebibytes << 20)
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { fail("no limit") }
    var store = try prepare(path)
    let room = UInt64(most) - min(UInt64(most), try addressSpace())
    guard room >= 128 << 20 else { fail("an open store leaves \(room) bytes of address space") }
    say("\(try foundCount(store))")
    _ = try store.modify(request(50), as: Actor(user: "user-0"))
    try store.rebuildViews()
    say("\(try foundCount(store))")
    try store.close()
    store = try Store.inMemory()
    _ = try store.modify(zoneRequest(), as: Actor(user: "user-0"))
    _ = try store.modify(request(1), as: Actor(user: "user-0"))
    say("\(try foundCount(store))")
    try store.close()
    // Sizes that end within a page, or are beyond any address space: together they would take all there is, were
    // anything of them kept.
    var options = StoreOptions.service
    (options.trees.reservedBytes, options.trees.generationBytes) = (1 << 50, 1_000_001)
    for _ in 0..<150 { try Store.inMemory(options: options).close() }
    say("opened")
}

func run() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 5, arguments[2] == "asset" {
        return try importAsset(arguments[3], into: arguments[1], copy: arguments[4])
    }
    if arguments.count >= 4, arguments[2] == "cut" {
        return try cut(arguments[3], of: arguments[1], reads: arguments.last == "read")
    }
    if arguments.count == 4, arguments[2] == "limited", let mebibytes = UInt64(arguments[3]) {
        return try limited(to: mebibytes, arguments[1])
    }
    guard arguments.count >= 3, let first = UInt64(arguments[2]) else { fail("usage: store-child STORE FIRST-NUMBER") }
    let isEarly = arguments.dropFirst(3).last == "early"
    let isSlow = arguments.dropFirst(3).first == "slowly"
    var options = StoreOptions.service
    options.segmentBytes = 64 << 10
    options.trees.generationBytes = 128 << 10
    let isShared = arguments.count >= 5 && arguments[3] == "shared"
    if isShared {
        options.place = .directory(arguments[4])
    }
    let store = try Store.open(at: arguments[1], options: options)
    let next = Atomic(first)
    let threads = try (0..<4).map { thread in
        try WorkerThread(name: "crash-writer") {
            let actor = Actor(user: "user-\(thread)")
            do {
                _ = try store.modify(zoneRequest(), as: actor)
                while true {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    if isEarly { say("\(number) \(thread)") }
                    let photo = try isShared ? importPhoto(number, into: store, beside: arguments[1]) : nil
                    let answer = try store.modify(request(number, asset: photo?.value), as: actor)
                    for save in answer.result.saves { _ = try save.get() }
                    if !isEarly { say("\(number) \(thread)") }
                    if isSlow { usleep(number < first + 400 ? 40_000 : 250_000) }
                }
            } catch { fail("\(error)") }
        }
    }
    for thread in threads { thread.join() }
}

do { try run() } catch { fail("\(error)") }
