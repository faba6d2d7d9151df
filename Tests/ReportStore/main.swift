import StrataModel
import StrataStore
import StrataSystem

// Makes a store in which two weeks of several people's work have left everything that a report tells of.
//   usage: report-store STORE
// The same one every time, but for its keys.

/// Two weeks of it, commit by commit.
struct TwoWeeks {
    static let hostile = "</script><img src=x onerror=\"document.title='FAIL'\">"
    static let (notes, photos) = (ZoneID("Notes"), ZoneID("Photos"))
    static let hostileZone = ZoneID("<b onmouseover='alert(1)'>Zone & Co</b>")
    static let people = [
        Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "laptop"), Actor(user: "bert", device: "mac"),
        Actor(user: "carla", device: "tablet"), Actor(user: "<i>dora</i>", device: "--><!--"),
    ]
    static let words = ["milk", "bread", "call Bert", "book the train", "rent", "water the plants", "taxes", "gift"]

    let store: Store
    let time: ManualTime
    private let random = SeededRandom(seed: 11)

    init(_ path: String) throws {
        // 2026-11-02, a Monday.
        time = ManualTime(microseconds: 1_793_577_600_000_000)
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.segmentBytes = 96 << 10
        store = try Store.open(
            at: path, options: options, platform: Platform(time: time, random: SeededRandom(seed: 1)))
    }

    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    func text(_ count: Int) -> String {
        (0..<count).map { _ in Self.words[below(Self.words.count)] }.joined(separator: ", ")
    }

    func run() throws {
        for actor in Self.people where actor.device != "laptop" {
            _ = try store.modify(.zones(saving: [Self.notes, Self.photos]), as: actor)
        }
        _ = try store.modify(.zones(saving: [Self.hostileZone]), as: Self.people[0])
        for day in 0..<14 { try spend(day) }
        try oddities()
        // The first two days are let go.
        _ = try store.compact(before: 120)
        try store.close()
    }

    /// Little at the weekend, and nothing at night.
    private func spend(_ day: Int) throws {
        let count = day % 7 >= 5 ? 10 + below(10) : 50 + below(60)
        time.advance(byMicroseconds: 8 * 3_600_000_000)
        for _ in 0..<count {
            time.advance(byMicroseconds: Int64(below(12 * 3_600_000_000 / count * 2)))
            try act()
        }
        let rest = 86_400_000_000 - (time.nowMicroseconds() - 1_793_577_600_000_000) % 86_400_000_000
        time.advance(byMicroseconds: rest)
    }

    private func act() throws {
        let actor = Self.people[below(Self.people.count)]
        // Some are changed again and again.
        let number = below(5) < 2 ? below(6) : below(150)
        switch below(20) {
        case 0..<11: try save("note-\(number)", ["text": .string(text(4)), "rank": .int64(Int64(below(9)))], actor)
        case 11..<15:
            try save(
                "photo-\(number)", ["size": .int64(Int64(below(9_000_000))), "data": .data(random.bytes(below(900)))],
                actor, type: "Photo", zone: Self.photos)
        case 15: try delete("note-\(number)", actor)
        case 16:
            try save(
                "news-\(number % 20)", ["title": .string(text(2))], actor, zone: ZoneID("_defaultZone"),
                database: DatabaseID(.public))
        case 17: try save("note-\(number)", ["text": .string("mine")], actor, policy: .ifServerRecordUnchanged)
        case 18: try save("lost", ["text": .string("to no zone")], actor, zone: ZoneID("Gone"))
        default: try saveSome(number, actor)
        }
    }

    private func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?>, _ actor: Actor, type: String = "Note",
        zone: ZoneID = TwoWeeks.notes, database: DatabaseID = DatabaseID(.private), policy: SavePolicy = .changedKeys
    ) throws {
        var request = RequestBuilder(database, policy: policy)
        request.save(RecordID(name, zone: zone), type: type, fields: fields)
        // What is refused is told on the page.
        _ = try store.modify(request.request, as: actor)
    }

    private func delete(_ name: String, _ actor: Actor) throws {
        var request = RequestBuilder(DatabaseID(.private))
        request.delete(RecordID(name, zone: Self.notes))
        _ = try store.modify(request.request, as: actor)
    }

    /// Three items, of which one or another may be there already.
    private func saveSome(_ number: Int, _ actor: Actor) throws {
        var request = RequestBuilder(DatabaseID(.private), isAtomic: false)
        for item in number..<number + 3 {
            request.save(
                RecordID("note-\(item)", zone: Self.notes), type: "Note", fields: ["text": .string(text(1))])
        }
        _ = try store.modify(request.request, as: actor, operation: .init(groupID: "g-\(number)", groupName: "import"))
    }

    /// What nobody should write, what is kept from view, and what was taken away.
    private func oddities() throws {
        let anna = Self.people[0]
        for rank in 1...3 {
            let fields: KeyValuePairs<String, FieldValue?> = [
                "text": .string(Self.hostile), "rank": .int64(Int64(rank)),
            ]
            try save(Self.hostile, fields, anna, zone: Self.hostileZone)
        }
        try save("spoken", ["text": .string("right\u{202E}left\u{2028}next\u{0}")], anna)
        let secret = RecordID("secret", zone: Self.notes)
        let pin = try store.seal(.string("hunter2"), for: "pin", of: secret, in: DatabaseID(.private), as: anna)
        try save("secret", ["pin": pin, "text": .string("PIN of the door")], anna)
        let long = text(400)
        try save("long", ["text": .string(long)], anna)
        try save("long", ["text": .string(long + ", and the end")], anna)
        try save("forget-me", ["text": .string("what is to be forgotten")], anna)
        try store.erase(
            [RecordID("forget-me", zone: Self.notes)], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        try save("note-1", ["text": .string("of the phone")], anna)
        let note = RecordID("note-1", zone: Self.notes)
        let seen = try store.snapshot().record(note, in: DatabaseID(.private), as: anna).version
        try save("note-1", ["text": .string("of the laptop"), "rank": nil], Self.people[1])
        var late = RequestBuilder(DatabaseID(.private))
        late.save(note, type: "Note", base: seen, fields: ["text": .string("of the phone, too late")])
        _ = try store.modify(late.request, as: anna)
    }
}

extension SeededRandom {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

guard CommandLine.arguments.count == 2 else { throw StrataError(.invalidArgument, "usage: report-store STORE") }
try TwoWeeks(CommandLine.arguments[1]).run()
