import StrataModel
import StrataQuery
import StrataStore
import StrataSystem
import TestSupport

/// Inputs to the engine: predicates, tokens, cursors and names, on a store in memory for each dialect.
struct EngineInputs {
    private let stores: [Store]
    private let tokens: [[UInt8]]
    private let cursors: [[UInt8]]
    private static let anna = Actor(user: "anna", device: "phone")
    private static let bert = Actor(user: "bert", device: "mac")
    private static let own = DatabaseID(.private)
    private static let zone = ZoneID("Notes")

    init() throws {
        stores = [try Store.inMemory(options: .service), try Store.inMemory(options: .embedded)]
        for store in stores {
            for actor in [Self.anna, Self.bert] { try Self.fill(store, as: actor) }
        }
        var (tokens, cursors): ([[UInt8]], [[UInt8]]) = ([], [])
        for actor in [Self.anna, Self.bert] {
            let page = try stores[0].zoneChanges(of: Self.zone, in: Self.own, limit: 20, as: actor)
            tokens.append(page.token.payload())
            tokens.append(
                try stores[0].zoneChanges(of: Self.zone, in: Self.own, since: page.token, as: actor).token.payload())
            tokens.append(try stores[0].databaseChanges(in: Self.own, as: actor).token.payload())
            let query = Query("Note", order: [.key("n", isAscending: true)], zone: Self.zone)
            let found = try stores[0].query(.new(query), in: Self.own, limit: 10, as: actor)
            if let cursor = found.cursor { cursors.append(cursor.payload()) }
        }
        (self.tokens, self.cursors) = (tokens, cursors)
    }

    private static func fill(_ store: Store, as actor: Actor) throws {
        try store.modify(.zones(saving: [zone]), as: actor)
        var builder = RequestBuilder(own, policy: .allKeys)
        for number in 0..<60 {
            let link = builder.reference(to: RecordID("\(actor.user)-0", zone: zone))
            let place = FieldValue.Location(latitude: Double(number), longitude: 11)
            builder.save(
                RecordID("\(actor.user)-\(number)", zone: zone), type: "Note",
                fields: [
                    "n": .int64(Int64(number)), "s": .string(String(repeating: "a", count: number) + "b"),
                    "d": .double(Double(number) / 7), "at": .date(Double(number) * 1e6), "place": .location(place),
                    "tags": .list(try FieldList([.string("a"), .string("\(number)")])), "data": .data([1, 2]),
                    "link": link,
                ])
        }
        try store.modify(builder.request, as: actor)
    }

    /// An error that is documented is an answer; any other one is thrown on.
    private func answering(_ body: () throws -> Void) throws {
        do { try body() } catch is Refusal {} catch is StrataError {} catch is QueryError {}
    }

    private func require(_ isRight: Bool, _ text: @autoclosure () -> String) {
        if !isRight { Telling.wrong(text()) }
    }

    // MARK: Predicates

    func predicate(_ generator: inout SeededGenerator) throws {
        var grammar = PredicateGrammar(SeededGenerator(seed: generator.next()))
        let text = generator.next(below: 200) == 0 ? grammar.excessive() : grammar.predicate()
        let arguments: [PredicateArgument] = [
            [.value(.string("n")), .value(.int64(3)), .value(.list([.double(.nan)]))],
            [.value(.location(latitude: .infinity, longitude: -200)), .value(.null), .unsupported(type: "Thing")], [],
        ][generator.next(below: 3)]
        let store = stores[generator.next(below: 2)]
        let key = ["n", "s", "at", "place", "tags", "unknown"][generator.next(below: 6)]
        let order = generator.next(below: 3) == 0 ? [SortKey.key(key, isAscending: true)] : []
        try answering {
            let tree = try PredicateParser.parse(text, arguments)
            let query = Query("Note", where: tree, order: order, zone: Self.zone)
            let page = try store.query(.new(query), in: Self.own, as: Self.anna)
            require(page.matches.allSatisfy { $0.id.name.hasPrefix("anna-") }, "others' records match \(text)")
            if page.cursor == nil { try checkNegation(of: tree, page.matches.count, store, text) }
        }
    }

    /// A predicate and its negation match no record both.
    private func checkNegation(of tree: PredicateTree, _ count: Int, _ store: Store, _ text: String) throws {
        guard count > 0, let negated = try? PredicateParser.parse("NOT (\(PredicateWriter.text(of: tree)))") else {
            return
        }
        let page = try store.query(.new(Query("Note", where: negated, zone: Self.zone)), in: Self.own, as: Self.anna)
        require(page.matches.count + count <= 60, "\(count) records match \(text), and \(page.matches.count) do not")
    }

    func slowExpression() throws {
        try answering {
            let query = Query("Note", where: try PredicateParser.parse("s MATCHES '(a|aa)+c|a+b'"), zone: Self.zone)
            let page = try stores[1].query(.new(query), in: Self.own, as: Self.anna)
            // An error will do as well. The first text has no a.
            require(page.cursor != nil || page.matches.count == 59, "\(page.matches.count) of 59 match 'a+b'")
        }
    }

    // MARK: What comes back

    /// A payload with some bytes changed, as if the store had sealed it. `Forger` forges seals.
    private func changed(_ payload: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var body = payload
        for _ in 0...generator.next(below: 4) {
            let place = generator.next(below: max(1, body.count))
            switch generator.next(below: 5) {
            case 0: body.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
            case 1 where body.count > 1: body.remove(at: place)
            case 2: body.replaceSubrange(place..., with: generator.nextBytes(generator.next(below: 40)))
            default: if place < body.count { body[place] = UInt8(truncatingIfNeeded: generator.next()) }
            }
        }
        return body
    }

    func token(_ generator: inout SeededGenerator) throws {
        let payload = changed(tokens[generator.next(below: tokens.count)], &generator)
        let asker = generator.next(below: 2) == 0 ? Self.anna : Self.bert
        try answering {
            let token = try FeedToken(payload: payload)
            require(try FeedToken(payload: token.payload()) == token, "a token reads as another")
            let page = try stores[0].zoneChanges(of: Self.zone, in: Self.own, since: token, as: asker)
            let names = page.changed.map(\.id.name) + page.deleted.map(\.id.name)
            require(names.allSatisfy { $0.hasPrefix(asker.user) }, "a token gave \(asker.user) others' records")
        }
        try answering {
            _ = try stores[0].databaseChanges(in: Self.own, since: try FeedToken(payload: payload), as: asker)
        }
    }

    func cursor(_ generator: inout SeededGenerator) throws {
        let payload = changed(cursors[generator.next(below: cursors.count)], &generator)
        let asker = generator.next(below: 2) == 0 ? Self.anna : Self.bert
        try answering {
            let cursor = try QueryCursor(payload: payload)
            let page = try stores[0].query(.continued(cursor), in: Self.own, as: asker)
            require(
                page.matches.allSatisfy { $0.id.name.hasPrefix(asker.user) },
                "a cursor gave \(asker.user) others' records")
        }
    }

    // MARK: Names

    private static let names = [
        "", " ", ".", "..", "../../x", "/", "a/b", "\u{0}", "\n", "\u{1b}[2J", "\u{202e}x", "e\u{301}", "\u{e9}", "_x",
        "__defaultZone", "_defaultZone", "%@", "'", "\"", "\u{FFFF}", "\u{10FFFF}", "recordID", "CON", "a\u{0}b",
        String(repeating: "x", count: 255), String(repeating: "x", count: 256),
        String(repeating: "\u{1F600}", count: 64),
        String(repeating: "y", count: 5_000),
    ]

    /// What is saved under a name is read under it, and under no other one.
    func names(_ generator: inout SeededGenerator) throws {
        func name() -> String { Self.names[generator.next(below: Self.names.count)] }
        let store = stores[generator.next(below: 2)]
        let actor = Actor(user: generator.next(below: 4) == 0 ? name() : "carl", device: name())
        let zone = generator.next(below: 3) == 0 ? ZoneID("_defaultZone") : ZoneID(name(), owner: "")
        let (id, type, key) = (RecordID(name(), zone: zone), name(), name())
        let value = Int64(generator.next(below: 1_000))
        try answering {
            if zone.name != "_defaultZone" {
                let answer = try store.modify(.zones(saving: [zone]), as: actor)
                for save in answer.result.saves { _ = try save.get() }
            }
            var builder = RequestBuilder(Self.own, policy: .allKeys)
            builder.save(id, type: type, fields: [key: .int64(value)])
            _ = try store.modify(builder.request, as: actor).result.saves[0].get()
            let found = try store.fetch([id], in: Self.own, as: actor)[0].get()
            require(try found[key] == .int64(value) && found.id == id, "\(id) reads as something else")
        }
    }
}
