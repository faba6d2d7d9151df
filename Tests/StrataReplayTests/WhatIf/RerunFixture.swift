import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import StrataReplay

/// A store whose history tests make, request by request, a hundredth of a second apart.
final class RerunFixture {
    static let notes = ZoneID("Notes")
    static let (anna, bert) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
    static let database = DatabaseID(.private)

    let time = ManualTime(microseconds: 1_795_240_000_000_000)
    let store: Store

    init(
        recordsRefusals: Bool = true, at path: String? = nil, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws {
        var options = StoreOptions.service
        options.recordsRefusals = recordsRefusals
        change(&options)
        let platform = Platform(time: time, random: SeededRandom(seed: 1))
        store =
            try path.map { try Store.open(at: $0, options: options, platform: platform) }
            ?? Store.inMemory(options: options, platform: platform)
        try store.modify(.zones(saving: [Self.notes]), as: Self.anna)
    }

    deinit { try? store.close() }

    /// Saves a note with a rank; returns its version, or nil if it was refused.
    @discardableResult
    func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?>, base: Version? = nil, as actor: Actor = anna,
        parent: RequestBuilder.LinkedName = .kept, policy: SavePolicy = .ifServerRecordUnchanged
    ) throws -> Version? {
        var builder = RequestBuilder(Self.database, policy: policy)
        builder.save(RecordID(name, zone: Self.notes), type: "Note", base: base, parent: parent, fields: fields)
        return try modify(builder.request, as: actor)?.saves.first.flatMap { try? $0.get() }
    }

    func delete(_ name: String, as actor: Actor = anna) throws {
        var builder = RequestBuilder(Self.database)
        builder.delete(RecordID(name, zone: Self.notes))
        try modify(builder.request, as: actor)
    }

    @discardableResult
    func modify(_ request: Request, as actor: Actor = anna) throws -> RequestResult? {
        time.advance(byMicroseconds: 10_000)
        do { return try store.modify(request, as: actor).result } catch is Refusal { return nil }
    }

    /// Has what waits to be noted written: it rides with the next commit.
    func settle(_ name: String = "other") throws {
        try save(name, ["rank": .int64(0)], policy: .allKeys)
    }

    struct Replayed {
        var commits: [RerunCommit] = []
        var report: RerunReport
        /// What records differ, and in which fields.
        var differences: [String: [String]] = [:]

        func commit(_ offset: UInt64) -> RerunCommit? { commits.first { $0.offset == offset } }
    }

    func replay(_ changes: RerunChange..., into log: (any EventLog)? = nil) throws -> Replayed {
        var commits: [RerunCommit] = []
        let report = try Rerun(of: store, changes: changes).run(into: log) { commits.append($0) }
        var rerun = Replayed(commits: commits, report: report)
        try report.forEachDifference { difference in
            rerun.differences[difference.id.name] = [difference.kind.rawValue] + (try difference.fields.map(\.key))
            return true
        }
        return rerun
    }

    static func rank(_ name: String, _ snapshot: StoreSnapshot) throws -> FieldValue? {
        try snapshot.record(RecordID(name, zone: notes), in: database, as: anna)["rank"]
    }
}
