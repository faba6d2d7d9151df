import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

@testable import StrataStore

/// The history of a store that was made before stores had a secret, as a release of that time wrote it: no commit draws
/// one or names the record of a user.
///
/// Commit 1 makes a zone of anna's, 2 is her note "news" in public, which refers to her own record, 3 is ben's note
/// "reply" there.
final class EarlierStore {
    static let zone = ZoneID("_defaultZone")
    static let (anna, ben) = (UserRecord.earlierName(of: "anna"), UserRecord.earlierName(of: "ben"))

    private let view: RulesView
    private var commits: [NewCommit] = []

    init() throws {
        view = RulesView(Fold(try Views.emptyTrees().fork()))
        try write(.zones(saving: [ZoneID("Notes")]), as: "anna")
        for (user, note, record) in [("anna", "news", Self.anna), ("ben", "reply", Self.ben)] {
            var builder = RequestBuilder(DatabaseID(.public), policy: .allKeys)
            let author = builder.reference(to: RecordID(record, zone: Self.zone))
            builder.save(RecordID(note, zone: Self.zone), type: "Note", fields: ["author": author])
            try write(builder.request, as: user)
        }
    }

    private func write(_ request: Request, as user: String) throws {
        let offset = UInt64(commits.count) + 1
        let context = RequestContext(
            actor: Actor(user: user, device: "phone"), time: 1_600_000_000_000_000 + Int64(offset),
            commitID: Identifier(high: 7, low: offset))
        let decision = try StoreOptions.service.rules.decide(request, view, context)
        guard case .commit(let payload) = decision.outcome else { return }
        try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: context.time) }
        view.adopt(decision)
        commits.append(NewCommit(id: context.commitID, time: context.time, payload: payload[...]))
    }

    /// Returns a store with this history that has not drawn its secret.
    func inMemory() throws -> Store {
        let log = MemoryLog()
        _ = try log.append(commits, expecting: log.end)
        return try Store(on: log)
    }

    func make(at path: String) throws {
        let log = try SegmentedLog.open(at: path, touches: { try Envelope.touches(of: $0) })
        _ = try log.append(commits, expecting: log.end)
        try log.close()
    }
}
