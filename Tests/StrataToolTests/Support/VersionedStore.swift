import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport

@testable import StrataTool

/// A store with records of several versions, users, devices and zones, whose times are the same in every run: one
/// second between two requests.
struct VersionedStore {
    static let startTime: Int64 = 1_795_240_000_000_000
    static let phone = Actor(user: "anna", device: "phone")
    static let laptop = Actor(user: "anna", device: "laptop")
    static let tablet = Actor(user: "bert", device: "tablet")
    static let notes = ZoneID("Notes")
    static let photos = ZoneID("Photos")

    let directory: TestDirectory
    let store: Store
    private let time: ManualTime

    var path: String { directory.path("Notes.strata") }

    init(segmentBytes: Int = 64 << 20) throws {
        directory = try TestDirectory()
        time = ManualTime(microseconds: Self.startTime)
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.segmentBytes = segmentBytes
        store = try Store.open(
            at: directory.path("Notes.strata"), options: options,
            platform: Platform(time: time, random: SeededRandom(seed: 1)))
    }

    // MARK: Requests, each of which returns the offset of its commit

    @discardableResult
    func modify(
        _ request: Request, as actor: Actor = phone, id: String = "", group: String = "", groupName: String = ""
    ) throws -> UInt64 {
        time.advance(byMicroseconds: 1_000_000)
        let answer = try store.modify(
            request, as: actor, operation: .init(id: id, groupID: group, groupName: groupName))
        for result in answer.result.saves { _ = try result.get() }
        return store.offset
    }

    @discardableResult
    func makeZones(_ zones: [ZoneID] = [notes, photos], as actor: Actor = phone) throws -> UInt64 {
        try modify(.zones(saving: zones), as: actor)
    }

    /// Saves a record whatever version the store has.
    @discardableResult
    func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?>, type: String = "Note", in zone: ZoneID = notes,
        parent: RequestBuilder.LinkedName = .kept, as actor: Actor = phone, database: DatabaseID = DatabaseID(.private),
        id: String = "", group: String = "", groupName: String = ""
    ) throws -> UInt64 {
        var builder = RequestBuilder(database, policy: .changedKeys)
        builder.save(RecordID(name, zone: zone), type: type, parent: parent, fields: fields)
        return try modify(builder.request, as: actor, id: id, group: group, groupName: groupName)
    }

    @discardableResult
    func delete(_ names: String..., in zone: ZoneID = notes, as actor: Actor = phone) throws -> UInt64 {
        var builder = RequestBuilder(DatabaseID(.private))
        for name in names { builder.delete(RecordID(name, zone: zone)) }
        return try modify(builder.request, as: actor)
    }

    /// Asks for what the store refuses: to save a record as a new one that is there.
    func beRefused(_ name: String, as actor: Actor = phone) throws {
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(RecordID(name, zone: Self.notes), type: "Note", fields: ["rank": .int64(99)])
        time.advance(byMicroseconds: 1_000_000)
        let answer = try store.modify(builder.request, as: actor)
        guard case .failure? = answer.result.saves.first else {
            throw StrataError(.invalidArgument, "The store accepts what it was to refuse.")
        }
    }

    func erase(_ name: String) throws {
        time.advance(byMicroseconds: 1_000_000)
        try store.erase(
            [RecordID(name, zone: Self.notes)], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
    }

    // MARK: Stores that several tests look at

    /// The offsets of what was done.
    struct Offsets {
        var zones: UInt64 = 0
        var created: UInt64 = 0
        var updated: UInt64 = 0
        var photo: UInt64 = 0
        var linked: UInt64 = 0
        var berts: UInt64 = 0
        var news: UInt64 = 0
        var deleted: UInt64 = 0
        var again: UInt64 = 0
        var refused: UInt64 = 0
    }

    /// A closed store in which everything has happened that a filter can ask for.
    static func varied() throws -> (world: VersionedStore, offsets: Offsets) {
        let world = try VersionedStore()
        var offsets = Offsets()
        offsets.zones = try world.makeZones()
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(
            RecordID("note-1", zone: notes), type: "Note",
            fields: ["title": .string("Groceries"), "rank": .int64(1), "tags": .list(try FieldList([.string("a")]))])
        builder.save(
            RecordID("note-2", zone: notes), type: "Note", fields: ["title": .string("Trip"), "rank": .int64(5)])
        offsets.created = try world.modify(builder.request, id: "op-1", group: "g-1", groupName: "import")
        offsets.updated = try world.save(
            "note-1", ["title": .string("Shopping"), "done": .int64(1)], as: laptop, id: "op-2")
        offsets.photo = try world.save("photo-1", ["size": .int64(10)], type: "Photo", in: photos)
        offsets.linked = try world.save("note-1", ["done": nil, "rank": .int64(7)], parent: .set("note-2"))
        try world.makeZones([notes], as: tablet)
        offsets.berts = try world.save("note-1", ["title": .string("Other")], as: tablet)
        offsets.news = try world.save(
            "news", ["title": .string("News")], in: ZoneID("_defaultZone"), database: DatabaseID(.public))
        offsets.deleted = try world.delete("photo-1", in: photos, as: laptop)
        offsets.again = try world.save("photo-1", ["size": .int64(20)], type: "Photo", in: photos)
        try world.beRefused("note-2", as: laptop)
        try world.store.close()
        // What is refused is written at the end, if not before.
        offsets.refused = offsets.again + 1
        return (world, offsets)
    }

    // MARK: The tool

    func run(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }
    func run(_ words: [String]) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// The offsets of the commits that `log` prints.
    func offsets(_ words: [String]) throws -> [UInt64] {
        let result = try run(["log", "Notes.strata", "--oneline"] + words)
        // An empty list may come with a note, and no other list.
        let isNote = result.output.isEmpty && result.errors.hasPrefix("strata log: note: no commit ")
        guard result.code == 0, result.errors.isEmpty || isNote else {
            throw StrataError(.invalidArgument, "The tool does not print the log.", .init(found: "\(result)"))
        }
        return result.lines.compactMap { UInt64($0.prefix { $0 != " " }) }
    }
}
