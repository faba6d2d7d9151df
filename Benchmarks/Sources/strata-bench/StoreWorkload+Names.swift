import StrataModel
import StrataRules
import StrataStore
import StrataSystem

extension StoreWorkload {
    /// What a fetch pays for the zone of its record: warm, in few and in many zones, and first in a state.
    func names(_ progress: (String) -> Void) throws -> [Measurement] {
        let counts = size.isQuick ? [1, 3, 100, 2_000] : [1, 3, 100, 10_000]
        let zoneCount = counts.max() ?? 1
        progress("store: fetches in \(zoneCount) zones, private and shared")
        let path = "\(folder)/names.strata"
        defer { removeTree(path) }
        var options = StoreOptions.embedded
        options.durability = .system
        let store = try Store.open(at: path, options: options)
        defer { try? store.close() }
        try NamedZones.fill(store, count: zoneCount)
        var sides: [(metric: String, run: () throws -> Double)] = []
        for reader in [NamedZones.owner, NamedZones.member] {
            for count in counts {
                let metric = "fetch of a record, \(count == 1 ? "1 zone" : "\(count) zones"), \(reader.noun)"
                sides.append((metric, { try warm(store, reader, zoneCount: count) }))
            }
            sides.append(("first fetch after a commit, \(reader.noun)", { try first(store, reader) }))
        }
        let figures = try alternating(rounds: size.rounds, sides.map(\.run))
        return zip(sides, figures).map { side, figures in
            Measurement(workload: Self.name, metric: side.metric, unit: "µs", strata: figures, bar: .none)
        }
    }

    /// Returns the microseconds of a fetch from one state, whose zones were all read before.
    private func warm(_ store: Store, _ reader: NamedZones.Reader, zoneCount: Int) throws -> Double {
        let random = SeededRandom(seed: 7)
        let ids = (0..<8_192).map { _ in reader.id(Int(random.next(below: UInt64(zoneCount)))) }
        let state = store.snapshot()
        func fetch() throws {
            for id in ids { _ = try state.record(id, in: reader.database, as: reader.actor) }
        }
        try fetch()
        return try size.milliseconds(fetch) * 1_000 / Double(ids.count)
    }

    /// Returns the microseconds of the first fetch from each of some states.
    private func first(_ store: Store, _ reader: NamedZones.Reader) throws -> Double {
        let count = size.isQuick ? 500 : 2_000
        let id = reader.id(0)
        var seconds = 0.0
        for _ in 0..<count {
            try NamedZones.modify(store, NamedZones.saving(1..<2), as: NamedZones.owner.actor)
            let state = store.snapshot()
            let start = secondsNow()
            _ = try state.record(id, in: reader.database, as: reader.actor)
            seconds += secondsNow() - start
        }
        return seconds / Double(count) * 1e6
    }
}

/// Zones of one record each, all shared as a whole.
private enum NamedZones {
    struct Reader {
        let noun: String
        let actor: Actor
        let database: DatabaseID
        /// The owner of the zones in their IDs.
        let zoneOwner: String

        func id(_ number: Int) -> RecordID {
            RecordID(NamedZones.record, zone: ZoneID(NamedZones.name(number), owner: zoneOwner))
        }
    }

    static let owner = Reader(
        noun: "private", actor: Actor(user: "anna", device: "phone"), database: DatabaseID(.private), zoneOwner: "")
    static let member = Reader(
        noun: "shared", actor: Actor(user: "ben", device: "phone"), database: DatabaseID(.shared), zoneOwner: "_anna")
    private static let record = "task"
    private static let requestCount = 400

    static func name(_ number: Int) -> String { "Project \(number)" }

    static func fill(_ store: Store, count: Int) throws {
        // The name of a user's own record is chosen before the user first writes.
        try store.setPerson(Person(), of: owner.actor.user, recordName: member.zoneOwner)
        try modify(store, QueryRecords.making([ZoneID("Own")]), as: member.actor)
        for start in stride(from: 0, to: count, by: requestCount) {
            let numbers = start..<min(start + requestCount, count)
            try modify(store, QueryRecords.making(numbers.map { ZoneID(name($0)) }), as: owner.actor)
            try modify(store, saving(numbers), as: owner.actor)
            try modify(store, sharing(numbers), as: owner.actor)
            let state = store.snapshot()
            let tokens = try numbers.map { number in
                let id = RecordID(ShareState.zoneWideName, zone: ZoneID(name(number)))
                let share = try state.record(id, in: owner.database, as: owner.actor)
                guard let shared = try share.shareState else { throw BenchError(message: "\(id) is not a share") }
                return shared.urlToken
            }
            try modify(
                store, Request(database: member.database, .joinShares(.init(.accept, tokens: tokens))),
                as: member.actor)
        }
    }

    static func saving(_ numbers: Range<Int>) -> Request {
        request(numbers) { names, zone in
            let fields = [
                FieldChange(names.ordinal(ofKey: "title"), .string("The quick brown fox jumps over a dog")),
                FieldChange(names.ordinal(ofKey: "priority"), .int64(7)),
            ]
            return .init(RecordKey(zone: zone, name: record), type: names.ordinal(ofType: "Task"), fields: fields)
        }
    }

    private static func sharing(_ numbers: Range<Int>) -> Request {
        request(numbers) { names, zone in
            let type = names.ordinal(ofType: ShareState.recordType)
            let record = RecordKey(zone: zone, name: ShareState.zoneWideName)
            return .init(record, type: type, sharing: ShareChange(publicPermission: .readOnly))
        }
    }

    private static func request(
        _ numbers: Range<Int>, _ save: (inout RequestNames, UInt64) -> ModifyRecordsRequest.Save
    ) -> Request {
        var names = RequestNames()
        var body = ModifyRecordsRequest(policy: .allKeys)
        for number in numbers {
            let zone = names.ordinal(of: ZoneID(name(number)))
            body.saves.append(save(&names, zone))
        }
        return Request(database: owner.database, names: names, .modifyRecords(body))
    }

    static func modify(_ store: Store, _ request: Request, as actor: Actor) throws {
        let result = try store.modify(request, as: actor).result
        for save in result.saves { _ = try save.get() }
    }
}
