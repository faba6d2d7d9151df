import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import Synchronization

// Saves records from several threads and prints what was acknowledged, until it is killed.
//   usage: store-child STORE FIRST-NUMBER [early | slowly]
// Each request saves the records N-0 to N-3 and `last`, all with the number N, for the user of its thread.
//   usage: store-child STORE asset SOURCE COPY
// Imports a file, copies it out again, and prints how much memory that took at most, in KiB.
// `early` prints before the request instead of behind it: a bug, which whoever kills this must notice.
// `slowly` waits between requests, and longer when there are some hundred, so that a store does not grow beyond what a
// reader can look at in a moment.

let zone = ZoneID("Notes")

func request(_ number: UInt64) -> Request {
    var request = Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest()))
    let zone = request.names.ordinal(of: zone)
    let type = request.names.ordinal(ofType: "Note")
    let fields = [
        FieldChange(request.names.ordinal(ofKey: "number"), .int64(Int64(number))),
        FieldChange(request.names.ordinal(ofKey: "text"), .string(String(repeating: "x", count: Int(number % 97) * 7))),
    ]
    let names = (0..<4).map { "\(number)-\($0)" } + ["last"]
    request.content = .modifyRecords(
        ModifyRecordsRequest(
            saves: names.map { .init(RecordKey(zone: zone, name: $0), type: type, fields: fields) }, policy: .allKeys))
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

func run() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 5, arguments[2] == "asset" {
        return try importAsset(arguments[3], into: arguments[1], copy: arguments[4])
    }
    guard arguments.count >= 3, let first = UInt64(arguments[2]) else { fail("usage: store-child STORE FIRST-NUMBER") }
    let isEarly = arguments.dropFirst(3).first == "early"
    let isSlow = arguments.dropFirst(3).first == "slowly"
    var options = StoreOptions.service
    options.segmentBytes = 64 << 10
    options.checkpoints = .init(logBytes: 32 << 10, events: 200, dirtyPercent: 50)
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
                    let answer = try store.modify(request(number), as: actor)
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
