import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

/// A store that random requests fill, and a plain search through all of its states.
struct BisectionFixture {
    static let anna = Actor(user: "anna", device: "phone")
    static let database = DatabaseID(.private)
    static let zones = ["Notes", "Work", "Old"].map { ZoneID($0) }
    static let names = (0..<6).map { "note \($0)" }

    struct Found: Equatable {
        var holdsAtStart: Bool
        var flips: [Flip]
    }

    struct Flip: Equatable {
        var offset: UInt64
        var holds: Bool
    }

    let store: Store
    private var generator: SeededGenerator

    init(seed: UInt64 = 0) throws {
        var options = StoreOptions.embedded
        options.segmentBytes = 64 << 10
        options.trees.generationBytes = 128 << 10
        store = try Store.open(at: "/Bisected.strata", options: options, platform: Platform(files: SimulatedDisk()))
        generator = SeededGenerator(seed: seed)
        try store.modify(.zones(saving: Self.zones), as: Self.anna)
    }

    // MARK: Requests

    /// - Returns: the offset of the commit.
    @discardableResult
    func save(
        _ names: [String], _ fields: KeyValuePairs<String, FieldValue?>, type: String = "Note",
        zone: ZoneID = zones[0]
    ) throws -> UInt64 {
        var request = RequestBuilder(Self.database, policy: .changedKeys)
        for name in names { request.save(RecordID(name, zone: zone), type: type, fields: fields) }
        try store.modify(request.request, as: Self.anna)
        return store.offset
    }

    @discardableResult
    func delete(_ name: String, zone: ZoneID = zones[0]) throws -> UInt64 {
        var request = RequestBuilder(Self.database)
        request.delete(RecordID(name, zone: zone))
        try store.modify(request.request, as: Self.anna)
        return store.offset
    }

    /// Something that may be refused: a record of another type, a zone that is gone.
    mutating func step() throws {
        let zone = Self.zones[Int.random(in: 0..<3, using: &generator)]
        let names = Self.names.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
        let type = Int.random(in: 0..<8, using: &generator) == 0 ? "Task" : "Note"
        let rank = FieldValue.int64(Int64.random(in: 0...9, using: &generator))
        do {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: try store.modify(.zones(deleting: [zone]), as: Self.anna)
            case 1, 2: try store.modify(.zones(saving: [zone]), as: Self.anna)
            case 3, 4, 5: for name in names { try delete(name, zone: zone) }
            case 6: try save(names, ["rank": nil, "title": .string("none")], type: type, zone: zone)
            case 7, 8: try save(names, ["title": .string("text \(names.count)")], type: type, zone: zone)
            default: try save(names, ["rank": rank], type: type, zone: zone)
            }
        } catch is Refusal {}
    }

    // MARK: The plain search

    func question(_ predicate: String, zone: ZoneID? = nil, record: String? = nil) throws -> BisectionQuestion {
        BisectionQuestion(
            "Note", where: try PredicateParser.parse(predicate), in: Self.database, zone: zone, record: record,
            as: Self.anna)
    }

    private static func holds(_ question: BisectionQuestion, _ state: Store) throws -> Bool {
        let query = Query(question.type, where: question.predicate, zone: question.zone)
        do {
            let page = try state.query(.new(query), in: question.database, limit: 1_000, as: question.actor)
            guard let name = question.record else { return !page.matches.isEmpty }
            return page.matches.contains { isSameText($0.id.name, name) }
        } catch let refusal as Refusal where refusal.code == .zoneNotFound || refusal.code == .userDeletedZone {
            return false
        }
    }

    /// Opens every state of a range.
    func searched(_ question: BisectionQuestion, from: UInt64, to: UInt64) throws -> Found {
        let past = try store.asOf(from)
        defer { try? past.close() }
        var holds = try Self.holds(question, past)
        var found = Found(holdsAtStart: holds, flips: [])
        for offset in from..<to {
            try past.advance(to: offset + 1)
            let now = try Self.holds(question, past)
            if now != holds { found.flips.append(Flip(offset: offset + 1, holds: now)) }
            holds = now
        }
        return found
    }

    /// What a record is in a state.
    func version(of id: RecordID, at offset: UInt64) throws -> Version? {
        let past = try store.asOf(offset)
        defer { try? past.close() }
        return try? past.snapshot().record(id, in: Self.database, as: Self.anna).version
    }

    /// Compares an answer with the plain search, and each record with what it was.
    func check(_ question: BisectionQuestion, from: UInt64, to: UInt64, _ comment: Comment) throws {
        let answer = try Bisection(of: store, question, from: from, to: to).answer()
        let found = Found(
            holdsAtStart: answer.holdsAtStart, flips: answer.flips.map { Flip(offset: $0.offset, holds: $0.holds) })
        #expect(try found == searched(question, from: from, to: to), comment)
        #expect(answer.flipCount == answer.flips.count, comment)
        for flip in answer.flips {
            let record = try #require(flip.record, comment)
            #expect(try record.before?.version == version(of: record.id, at: flip.offset - 1), comment)
            #expect(try record.after?.version == version(of: record.id, at: flip.offset), comment)
            if let name = question.record { #expect(record.id.name == name) }
        }
    }
}
