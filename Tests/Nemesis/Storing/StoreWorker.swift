import Foundation
import StrataJetStream
import StrataLog
import StrataModel
import StrataReplication
import StrataRules
import StrataStore
import StrataSystem
import StrataViews

/// Carries out operations on one copy of the store: `nemesis work PLACE FILES COPY INPUT [FAULT]`.
///
/// It reads a line for each operation from INPUT, carries out many at once, and prints a line for each when it is
/// answered (``History`` has both forms). It ends with 0 at the end of INPUT, with 3 if the store cannot be opened at
/// present, and with 1 for any other failure.
struct StoreWorker: Sendable {
    static let database = DatabaseID(.private)
    static let zones = (0..<Campaign.clientCount).map { "c\($0)" } + [Campaign.sharedZone]
    /// The ends of a process that could not reach the sequencer, and may be started again.
    static let unreachableStatus: Int32 = 3

    let store: Store
    private let folder: String
    private let fault: InjectedFault?
    private let reads = Monitor<(lines: [String], isOver: Bool)>(([], false))
    /// The number of requests without an answer.
    private let pending = Monitor(0)

    private static let readerCount = 6

    /// Returns the options of a store at a place: an address of JetStream, or a sequencer's directory.
    static func options(place: String, files: String, fault: InjectedFault? = nil) throws -> StoreOptions {
        var options = StoreOptions.service
        options.segmentBytes = 4 << 20
        // A process that was killed folds what follows its last state: without optimization, seconds of the time
        // in which it has to take writes again.
        options.trees.generationBytes = 2 << 20
        let isDirectory = place.hasPrefix("/")
        if isDirectory {
            options.place = LogPlace(address: "file://\(place)") { platform in
                FaultySequencer(try DirectorySequencer(at: place, platform: platform), fault)
            }
        } else {
            options.place = try LogPlace.jetStream(place)
        }
        // An address may say that the servers keep the assets, so that there need be no directory.
        if isDirectory || options.place.assets == .directory { options.place = options.place.withFiles(in: files) }
        return options
    }

    static func run(_ words: ArraySlice<String>) -> Int32 {
        let words = Array(words)
        guard words.count >= 4 else { return 2 }
        do {
            let fault = words.count > 4 ? InjectedFault(rawValue: words[4]) : nil
            let options = try options(place: words[0], files: words[1], fault: fault)
            let store = try Store.open(at: words[2], options: options)
            try StoreWorker(store, words[2] + ".tmp", fault).run(reading: words[3])
            return 0
        } catch let error as StrataError where [.unreachable, .outcomeUnknown].contains(error.code) {
            complain("\(error)")
            return unreachableStatus
        } catch let refusal as Refusal where [.serviceUnavailable, .serverResponseLost].contains(refusal.code) {
            complain("\(refusal)")
            return unreachableStatus
        } catch {
            complain("\(error)")
            return 1
        }
    }

    private init(_ store: Store, _ folder: String, _ fault: InjectedFault?) throws {
        (self.store, self.folder, self.fault) = (store, folder, fault)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    static func complain(_ text: String) {
        let bytes = Array("nemesis: \(text)\n".utf8)
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    /// One call for each line: a line of this length goes into a pipe as a whole.
    private func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    private func run(reading input: String) throws {
        if store.offset == 0 {
            let request = Request.zones(saving: Self.zones.map { ZoneID($0) })
            _ = try store.modify(request, as: actor(0), operation: OperationInfo(id: "setup"))
        }
        guard let lines = fopen(input, "r") else { throw StrataError.systemCall("open", path: input, errno: errno) }
        say("ready")
        let readers = try (0..<Self.readerCount).map { _ in try WorkerThread(name: "reader") { serveReads() } }
        var buffer: UnsafeMutablePointer<CChar>?
        var size = 0
        while getline(&buffer, &size, lines) > 0, let buffer {
            let line = String(cString: buffer).trimmingCharacters(in: .newlines)
            let words = line.split(separator: " ")
            if ["read", "fetch", "feed", "photo"].contains(words.count > 1 ? words[1] : "") {
                reads.withLock { $0.lines.append(line) }
                reads.notifyAll()
            } else {
                modify(words)
            }
        }
        reads.withLock { $0.isOver = true }
        reads.notifyAll()
        for reader in readers { reader.join() }
        pending.wait { $0 == 0 ? () : nil }
        try store.close()
    }

    private func actor(_ operation: Int) -> Actor {
        Actor(user: "anna", device: "d\(operation % Campaign.clientCount)")
    }

    // MARK: Writing

    /// Begins `N save|count|delete ZONE NAME BASE [VALUE]`.
    private func modify(_ words: [Substring]) {
        guard words.count >= 5, let number = Int(words[0]) else { return say("0 error '\(words)'") }
        let isEarly = fault == .early && words[1] == "save"
        if isEarly {
            say("\(number) ok \(store.offset + 1) \(Version(offset: store.offset + 1, eventIndex: 0).packed)")
        }
        let request = request(words, number)
        pending.withLock { $0 += 1 }
        Task {
            let answer = await answer(to: request, number)
            if !isEarly { say("\(number) \(answer)") }
            pending.withLock { $0 -= 1 }
            pending.notifyAll()
        }
    }

    private func request(_ words: [Substring], _ number: Int, photo: FieldValue.Asset? = nil) -> Request {
        var builder = RequestBuilder(Self.database)
        let id = RecordID(String(words[3]), zone: ZoneID(String(words[2])))
        if words[1] == "delete" {
            builder.delete(id)
            return builder.request
        }
        let base = UInt64(words[4]).map { Version(packed: $0) }
        let n = FieldValue.int64(Int64(number))
        if words[1] == "count" {
            let count = words.count > 5 ? Int64(words[5]) ?? 0 : 0
            builder.save(id, type: "Counter", base: base, fields: ["n": n, "count": .int64(count)])
        } else if let photo {
            builder.save(id, type: "Note", base: base, fields: ["n": n, "p": n, "photo": .asset(photo)])
        } else {
            let text = String(repeating: "x", count: number % 97)
            builder.save(id, type: "Note", base: base, fields: ["n": n, "text": .string(text)])
        }
        return builder.request
    }

    private func answer(to request: Request, _ number: Int) async -> String {
        do {
            let answer = try await store.modify(
                request, as: actor(number), operation: OperationInfo(id: "\(number)"))
            return try Self.text(of: answer)
        } catch { return Self.text(of: error) }
    }

    private static func text(of answer: Answer) throws -> String {
        let versions = try answer.result.saves.map { try $0.get().packed }
        if let refusal = answer.result.deletes.compactMap({ $0 }).first { throw refusal }
        guard let offset = answer.offset else { return "none" }
        return "ok \(offset) \(versions.first ?? 0)"
    }

    private static func text(of error: any Error) -> String {
        switch error {
        case let refusal as Refusal where refusal.code == .serverResponseLost: return "unknown"
        case let refusal as Refusal where refusal.code == .serviceUnavailable: return "unwritten"
        case let refusal as Refusal where refusal.code == .serverRecordChanged:
            return "refused changed \(refusal.serverVersion?.packed ?? 0)"
        case let refusal as Refusal where refusal.code == .unknownItem: return "refused missing 0"
        case let error as StrataError where error.code == .unreachable: return "unwritten"
        default: return "error \(error)".replacing("\n", with: " ")
        }
    }

    // MARK: Reading

    private func serveReads() {
        while true {
            let next = reads.wait { state -> String?? in
                if !state.lines.isEmpty { return .some(state.lines.removeFirst()) }
                return state.isOver ? .some(nil) : nil
            }
            guard let line = next else { return }
            let words = line.split(separator: " ")
            guard words.count >= 4, let number = Int(words[0]) else { return say("0 error '\(line)'") }
            do { say("\(number) \(try answer(to: words, number))") } catch { say("\(number) \(Self.text(of: error))") }
        }
    }

    private func answer(to words: [Substring], _ number: Int) throws -> String {
        switch words[1] {
        case "photo": return try savePhoto(words, number)
        case "feed": return try feed(words)
        case "fetch":
            try store.confirm()
            return try read(RecordID(String(words[3]), zone: ZoneID(String(words[2]))), number)
        default: return try read(RecordID(String(words[3]), zone: ZoneID(String(words[2]))), number)
        }
    }

    /// The bytes of the asset that an operation saves.
    static func photo(of number: Int64) -> [UInt8] {
        // One in 20 has several pieces.
        let count = number % 20 == 0 ? 100_000 : 1 + Int(number % 300)
        return Array(String(repeating: "photo \(number) ", count: count).utf8)
    }

    private func savePhoto(_ words: [Substring], _ number: Int) throws -> String {
        let path = "\(folder)/\(number)"
        defer { unlink(path) }
        try Data(Self.photo(of: Int64(number))).write(to: URL(fileURLWithPath: path))
        let pin = try store.importAsset(at: path)
        return try withExtendedLifetime(pin) {
            let request = request(words, number, photo: pin.value)
            return try Self.text(
                of: store.modify(request, as: actor(number), operation: OperationInfo(id: "\(number)")))
        }
    }

    private func read(_ id: RecordID, _ number: Int) throws -> String {
        let snapshot = store.snapshot()
        do {
            let record = try snapshot.record(id, in: Self.database, as: actor(number))
            let photo = try Self.photoState(of: record, in: store, copy: "\(folder)/copy-\(number)")
            let value = try Self.number("n", of: record)
            let count = try Self.number("count", of: record) ?? 0
            return "is \(snapshot.offset) \(record.version.packed) \(value ?? -1) \(photo) \(count)"
        } catch let refusal as Refusal where refusal.code == .unknownItem { return "is \(snapshot.offset) 0 -1 - 0" }
    }

    static func number(_ key: String, of record: Record) throws -> Int64? {
        if case .int64(let number)? = try record[key] { number } else { nil }
    }

    /// Returns `-` for a record without a photo, `good` if the bytes are those that were saved, and `bad` if not.
    static func photoState(of record: Record, in store: Store, copy: String) throws -> String {
        guard let number = try number("p", of: record) else { return "-" }
        guard let asset = try record.assets.first else { return "bad" }
        defer { unlink(copy) }
        try store.copyAsset(asset, to: copy)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy))) == photo(of: number) ? "good" : "bad"
    }

    /// Reads a zone's changes behind a token: `N feed ZONE FROM TOKEN`.
    private func feed(_ words: [Substring]) throws -> String {
        guard words.count == 5 else { return "error '\(words)'" }
        var token: FeedToken?
        if words[4] != "-" {
            let bytes = Data(base64Encoded: String(words[4])) ?? Data()
            token = try store.token(from: [UInt8](bytes))
        }
        // A page is of a later state than the one before it.
        var changed: [String: UInt64] = [:]
        while true {
            let page = try store.zoneChanges(
                of: ZoneID(String(words[2])), in: Self.database, since: token, desiredKeys: [], as: actor(0))
            for record in page.changed { changed[record.id.name] = record.version.offset }
            for deletion in page.deleted { changed[deletion.id.name] = nil }
            token = page.token
            if !page.moreComing {
                let text = Data(try store.bytes(of: page.token)).base64EncodedString()
                let sum = changed.values.reduce(0, &+)
                return "changes \(page.token.position.offset) \(changed.count) \(sum) \(text)"
            }
        }
    }
}
