import Glibc
import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// The store that the tool is asked about: most commits save one of 100,000 notes in twelve zones of three users, some
/// save ten of them; one record in ten commits is one of four counters, so that these have very many versions; one
/// commit in a hundred keeps a refusal, and one in two hundred deletes.
struct ToolStore {
    static let counterZone = ZoneID("Counters")
    static let counter = "counter-0"
    static let user = "anna"
    static let users = [user, "bert", "carla"]
    private static let devices = ["phone", "tablet", "laptop"]
    private static let clientCount = 8
    private static let zonesOfUser = 4
    private static let recordCount = 100_000
    private static let database = DatabaseID(.private)

    let path: String
    let commitCount: Int
    private let texts: [String]

    init(_ path: String, commitCount: Int) {
        self.path = path
        self.commitCount = commitCount
        let random = SeededRandom(seed: 21)
        let words = (0..<400).map { _ in String(random.next(), radix: 36).prefix(3 + Int(random.next(below: 8))) }
        texts = (0..<4_000).map { _ in
            (0..<3 + random.next(below: 6)).map { _ in String(words[Int(random.next(below: 400))]) }
                .joined(separator: " ")
        }
    }

    static func note(_ number: Int) -> String { TaskRecords.name(number) }
    /// The one that is looked up; a small store has few of all notes.
    static let askedNote = 300

    /// The zone of a note; notes of one user are in all of this user's zones.
    static func zone(ofNote number: Int) -> ZoneID { ZoneID("Notes \(number / users.count % zonesOfUser)") }

    static func commitCount(_ size: WorkloadSize) -> Int { size.isQuick ? 50_000 : 1_000_000 }

    /// The store that is measured: at `$STRATA_BENCH_TOOL_STORE`, where it is kept and can be looked at by hand, or in
    /// a folder, for whoever calls to remove.
    static func find(
        in folder: String, _ size: WorkloadSize, _ progress: (String) -> Void
    ) throws -> (path: String, isKept: Bool) {
        let kept = getenv("STRATA_BENCH_TOOL_STORE").map { String(cString: $0) }
        let path = kept ?? "\(folder)/tool.strata"
        if try !RealFileSystem().exists(path) {
            progress("a store of \(commitCount(size)) commits")
            try ToolStore(path, commitCount: commitCount(size)).make()
        }
        return (path, kept != nil)
    }

    /// Made as programs make it, then closed, with all segments sealed but the newest.
    func make() throws {
        var options = StoreOptions.embedded
        options.durability = .system
        options.recordsRefusals = true
        let store = try Store.open(at: path, options: options)
        for user in Self.users {
            let zones = (0..<Self.zonesOfUser).map { ZoneID("Notes \($0)") } + [Self.counterZone]
            _ = try store.modify(QueryRecords.making(zones), as: Actor(user: user, device: Self.devices[0]))
        }
        let asker = Actor(user: Self.users[Self.askedNote % Self.users.count], device: Self.devices[0])
        _ = try store.modify(request(saving: [Self.askedNote], 0), as: asker)
        try fill(store)
        try store.close()
        let log = try SegmentedLog.open(at: path)
        while try log.sealNext() {}
        try log.close()
    }

    private func fill(_ store: Store) throws {
        let failure = Lock<(any Error)?>(nil)
        let threads = try (0..<Self.clientCount).map { client in
            try WorkerThread(name: "client-\(client)") {
                do {
                    for number in stride(from: client, to: commitCount, by: Self.clientCount) {
                        try save(number, in: store)
                    }
                } catch { failure.withLock { $0 = error } }
            }
        }
        for thread in threads { thread.join() }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func save(_ number: Int, in store: Store) throws {
        let mixed = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 20
        let note = Int(mixed) % Self.recordCount
        let user = Self.users[note % Self.users.count]
        let actor = Actor(user: user, device: Self.devices[number % Self.devices.count])
        switch number % 200 {
        case 0: _ = try store.modify(request(deleting: note), as: actor)
        case 1, 101: _ = try store.modify(request(stale: note), as: actor)
        case let rest where rest % 10 == 2:
            let counter = Self.counter.dropLast() + "\(number / 10 % 4)"
            _ = try store.modify(
                request(counting: String(counter), number), as: Actor(user: Self.user, device: "phone"))
        case let rest where rest % 50 == 3:
            let notes = (0..<10).map { (note + $0 * 3 * Self.users.count) % Self.recordCount / 3 * 3 + note % 3 }
            _ = try store.modify(request(saving: Array(Set(notes.filter { $0 < Self.recordCount })), number), as: actor)
        default: _ = try store.modify(request(saving: [note], number), as: actor)
        }
    }

    // MARK: Requests

    private func request(saving notes: [Int], _ number: Int, policy: SavePolicy = .changedKeys) -> Request {
        var names = RequestNames()
        let type = names.ordinal(ofType: "Note")
        let keys = ["title", "body", "rank", "isDone"].map { names.ordinal(ofKey: $0) }
        var body = ModifyRecordsRequest(policy: policy)
        for note in notes {
            var fields = [
                FieldChange(keys[0], .string(texts[(note + number) % texts.count])),
                FieldChange(keys[2], .int64(Int64(number % 10))),
            ]
            if number % 4 == 0 { fields.insert(.init(keys[1], .string(texts[number * 7 % texts.count])), at: 1) }
            if number % 3 == 0 { fields.append(.init(keys[3], .int64(Int64(number % 2)))) }
            let zone = names.ordinal(of: Self.zone(ofNote: note))
            body.saves.append(.init(RecordKey(zone: zone, name: Self.note(note)), type: type, fields: fields))
        }
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    /// Refused if the note is there, since no change tag comes with it.
    private func request(stale note: Int) -> Request { request(saving: [note], note, policy: .ifServerRecordUnchanged) }

    private func request(deleting note: Int) -> Request {
        var names = RequestNames()
        let zone = names.ordinal(of: Self.zone(ofNote: note))
        let body = ModifyRecordsRequest(deletes: [RecordKey(zone: zone, name: Self.note(note))])
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    private func request(counting counter: String, _ number: Int) -> Request {
        var names = RequestNames()
        let (zone, type) = (names.ordinal(of: Self.counterZone), names.ordinal(ofType: "Counter"))
        let body = ModifyRecordsRequest(
            saves: [
                .init(
                    RecordKey(zone: zone, name: counter), type: type,
                    fields: [
                        FieldChange(names.ordinal(ofKey: "count"), .int64(Int64(number))),
                        FieldChange(names.ordinal(ofKey: "by"), .string(texts[number % texts.count])),
                    ])
            ], policy: .changedKeys)
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }
}
