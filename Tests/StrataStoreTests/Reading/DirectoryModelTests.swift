import ReferenceModel
import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataStore

/// Compares what readers find with the directory of a store, which has served the states before, with what they find
/// in the same state with an empty directory.
@Suite("The directory of a store")
struct DirectoryModelTests {
    private struct Question {
        let actor: Actor
        let database: DatabaseID
        let zone: ZoneID
        let record: String
    }

    private static let actors =
        RequestGenerator.users.flatMap { user in RequestGenerator.devices.map { Actor(user: user, device: $0) } }
        + [.service, Actor(user: ""), Actor(user: "never")]
    private static let databases = [
        DatabaseID(.public), DatabaseID(.private), DatabaseID(.shared), DatabaseID(.private, owner: "ada"),
    ]
    private static let zones = ["Notes", "Lists", "Trips", ZoneID.defaultName, "never"]
    private static let records = ["a", "b", "c", "d", "e", "f", ShareState.zoneWideName]
    private static let questionCount = 40

    @Test(
        "Whatever was read before, each state is read as with an empty directory",
        arguments: [TwinStore.Ground.memory, .segmented])
    func agreement(ground: TwinStore.Ground) throws {
        var found: [DatabaseID: Int] = [:]
        try withSeeds(12) { seed in
            var dice = SeededGenerator(seed: seed)
            var twin = try TwinStore(ground, seed: seed, hasRoles: seed % 3 == 0, hasShares: seed % 3 != 0)
            var kept: [StoreSnapshot] = []
            for step in 1...60 {
                try twin.step()
                let newest = twin.store.snapshot()
                guard newest.offset > 0 else { continue }
                try compare(newest, &dice, &found)
                if step % 5 == 0 { kept.append(newest) }
                if !kept.isEmpty { try compare(kept[dice.next(below: kept.count)], &dice, &found) }
                if step % 10 == 0 {
                    let offset = UInt64(dice.next(below: Int(newest.offset))) + 1
                    let past = try twin.store.asOf(offset)
                    try compare(past.snapshot(), &dice, &found)
                    try past.close()
                }
                if step % 23 == 0 {
                    kept = []
                    try twin.reopen()
                }
            }
            kept = []
            try twin.store.close()
        }
        #expect(Self.databases.allSatisfy { found[$0, default: 0] > 0 }, "\(found)")
    }

    /// Asks the same questions of a state in both ways, and counts the records that are found in each database.
    private func compare(
        _ state: StoreSnapshot, _ dice: inout SeededGenerator, _ found: inout [DatabaseID: Int]
    ) throws {
        let owners = try RequestGenerator.users.map { try state.names.recordName(of: $0, in: state.trees) }
        for _ in 0..<Self.questionCount {
            func pick<Element>(_ all: [Element]) -> Element { all[dice.next(below: all.count)] }
            let database = pick(Self.databases)
            let owner = database.scope == .shared || dice.next(below: 8) == 0 ? pick(owners) : ""
            let question = Question(
                actor: pick(Self.actors), database: database, zone: ZoneID(pick(Self.zones), owner: owner),
                record: pick(Self.records))
            let expected = try answers(to: question, in: plain(state))
            let answers = try answers(to: question, in: state)
            #expect(answers == expected, "\(question) at \(state.offset)")
            if answers.record.hasPrefix("found") { found[database, default: 0] += 1 }
        }
    }

    /// Returns the same state for a reader who has looked nothing up.
    private func plain(_ state: StoreSnapshot) -> StoreSnapshot {
        let known = state.context
        let context = SnapshotContext(known.history, known.replacements, known.keys, newSecret: nil)
        return StoreSnapshot(trees: state.trees, context: context, gate: state.gate, zoneTable: ZoneTable())
    }

    private struct Answers: Equatable {
        let zones: String
        let zone: String
        let record: String
    }

    private func answers(to question: Question, in state: StoreSnapshot) throws -> Answers {
        let (database, actor) = (question.database, question.actor)
        return Answers(
            zones: try text { try state.zones(in: database, as: actor).map { "\($0.id) \($0.version)" }.joined() },
            zone: try text {
                let zone = try state.zone(question.zone, in: database, as: actor)
                return "\(zone.id) \(zone.version) \(zone.recordCount) \(zone.share ?? "")"
            },
            record: try text {
                let id = RecordID(question.record, zone: question.zone)
                let record = try state.record(id, in: database, as: actor, unreadable: .withoutFields)
                let users = try [record.createdBy, record.modifiedBy].map { try record.recordName(of: $0) }
                return try "found \(record.version) \(record.type) \(users) \(record.fields.keys.sorted())"
            })
    }

    private func text(_ body: () throws -> String) throws -> String {
        do { return try body() } catch let refusal as Refusal { return "refused: \(refusal.code)" }
    }
}
