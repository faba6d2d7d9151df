import ReferenceModel
import StrataModel
import StrataSystem
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
    private static let questionCount = 160

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

    @Test("Canary: the answers of one state are not those of another")
    func canary() throws {
        var dice = SeededGenerator(seed: 1)
        var twin = try TwinStore(.memory, seed: 1, hasShares: true)
        for _ in 1...20 { try twin.step() }
        let before = twin.store.snapshot()
        for _ in 1...40 { try twin.step() }
        let after = twin.store.snapshot()
        var differences = 0
        for _ in 0..<400 {
            let question = try question(about: after, &dice)
            if try answers(to: question, in: plain(before)) != answers(to: question, in: plain(after)) {
                differences += 1
            }
        }
        #expect(differences > 0)
        try twin.store.close()
    }

    @Test("A reader of the files finds each zone as it is after a refresh: deleted, made and filled again")
    func filesOfAWriter() throws {
        let (path, platform) = ("/Zones.strata", Platform(files: SimulatedDisk()))
        let anna = Actor(user: "anna", device: "phone")
        let writer = try Store.open(at: path, platform: platform)
        _ = try writer.modify(NoteRequest.makingZones(), as: anna)
        let reader = try StoreEngine.openForReading(at: path, .service, platform) { _ in }
        func found() throws -> [Bool] {
            _ = try reader.refresh()
            let state = reader.reader.make(reader.views.trees.snapshot())
            return try ["a", "b"].map { name in
                let id = NoteRequest.id(name)
                let question = Question(actor: anna, database: NoteRequest.database, zone: id.zone, record: name)
                let answers = try answers(to: question, in: state)
                #expect(try answers == self.answers(to: question, in: plain(state)))
                return answers.record.hasPrefix("found")
            }
        }
        for _ in 0..<3 {
            _ = try writer.modify(NoteRequest.saving(["a"]), as: anna)
            #expect(try found() == [true, false])
            _ = try writer.modify(NoteRequest.saving(["b"]), as: anna)
            #expect(try found() == [true, true])
            _ = try writer.modify(.zones(deleting: [NoteRequest.zone]), as: anna)
            #expect(try found() == [false, false])
            _ = try writer.modify(NoteRequest.makingZones(), as: anna)
            #expect(try found() == [false, false])
        }
        try reader.close()
        try writer.close()
    }

    /// Asks the same questions of a state in both ways, and counts the records that are found in each database.
    private func compare(
        _ state: StoreSnapshot, _ dice: inout SeededGenerator, _ found: inout [DatabaseID: Int]
    ) throws {
        for _ in 0..<Self.questionCount {
            let question = try question(about: state, &dice)
            let expected = try answers(to: question, in: plain(state))
            let answers = try answers(to: question, in: state)
            #expect(answers == expected, "\(question) at \(state.offset)")
            if answers.record.hasPrefix("found") { found[question.database, default: 0] += 1 }
        }
    }

    private func question(about state: StoreSnapshot, _ dice: inout SeededGenerator) throws -> Question {
        func pick<Element>(_ all: [Element]) -> Element { all[dice.next(below: all.count)] }
        let database = pick(Self.databases)
        var zone = ZoneID(pick(Self.zones))
        if database.scope == .shared || dice.next(below: 8) == 0 {
            zone.owner = try state.names.recordName(of: pick(RequestGenerator.users), in: state.trees)
        }
        return Question(actor: pick(Self.actors), database: database, zone: zone, record: pick(Self.records))
    }

    /// Returns the same state for a reader who has looked nothing up.
    private func plain(_ state: StoreSnapshot) -> StoreSnapshot {
        let known = state.context
        let context = SnapshotContext(known.history, known.live, known.keys, newSecret: nil)
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
