import Foundation
import StrataModel
import StrataRules
import StrataStore
import TestSupport
import Testing

@testable import StrataReplay

/// Why requests were answered as they were.
@Suite struct ExplanationTests {
    private static let notes = RefusingStore.notes
    private static let (phone, bert) = (RefusingStore.phone, RefusingStore.bert)

    // MARK: Refusals

    /// A request that is refused: what was there before, what is asked, and what is said of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let code: Refusal.Code
        let rule: Rule
        var isWhole = false
        var actor = RefusingStore.phone
        /// In the text of a fact; nil if none is needed.
        var fact: String?
        let ask: @Sendable (RefusingStore) throws -> Request

        var testDescription: String { "\(rule) \(code)" }
    }

    private static func saving(
        _ name: String, in zone: ZoneID = notes, scope: InternedName.Scope = .private, type: String = "Note",
        base: Version? = nil, parent: RequestBuilder.LinkedName = .kept,
        _ fields: KeyValuePairs<String, FieldValue?> = [:]
    ) -> Request {
        var builder = RequestBuilder(DatabaseID(scope), policy: base == nil ? .changedKeys : .ifServerRecordUnchanged)
        builder.save(RecordID(name, zone: zone), type: type, base: base, parent: parent, fields: fields)
        return builder.request
    }

    private static func schema(_ grants: String) -> String {
        "DEFINE SCHEMA CREATE ROLE Editors; CREATE ROLE Readers; RECORD TYPE Note (\(grants));"
    }

    private static let cases: [Case] = [
        Case(
            code: .notAuthenticated, rule: .signedIn, isWhole: true, actor: Actor(user: ""),
            fact: "no one was signed in"
        ) {
            _ in saving("a")
        },
        Case(
            code: .accountTemporarilyUnavailable, rule: .availableAccount, isWhole: true, fact: "temporarilyUnavailable"
        ) { world in
            try world.store.setAccountStatus(.temporarilyUnavailable, of: "anna")
            return saving("a")
        },
        Case(code: .permissionFailure, rule: .zonesTakenByService, isWhole: true) { _ in
            Request(database: DatabaseID(.private), .administer(.note(ConsoleNote("x"))))
        },
        Case(code: .permissionFailure, rule: .serviceRequests, isWhole: true) { _ in
            Request(database: DatabaseID(.public), .declareSchema(DeclareSchemaRequest([])))
        },
        Case(code: .badDatabase, rule: .customZones, isWhole: true, fact: "public") { _ in
            .zones(saving: [ZoneID("Z")], in: DatabaseID(.public))
        },
        Case(code: .limitExceeded, rule: .itemLimit, isWhole: true) { _ in
            var builder = RequestBuilder(DatabaseID(.private))
            for index in 0...400 { builder.save(RecordID("r\(index)", zone: notes), type: "Note") }
            return builder.request
        },
        Case(code: .limitExceeded, rule: .byteLimit, isWhole: true) { _ in
            let bytes = FieldValue.data([UInt8](repeating: 0, count: 900))
            var builder = RequestBuilder(DatabaseID(.private))
            for index in 0..<3 { builder.save(RecordID("r\(index)", zone: notes), type: "Note", fields: ["d": bytes]) }
            return builder.request
        },
        Case(code: .invalidArguments, rule: .recordsOnce, isWhole: true) { _ in
            var builder = RequestBuilder(DatabaseID(.private))
            for _ in 0..<2 { builder.save(RecordID("twice", zone: notes), type: "Note") }
            return builder.request
        },
        Case(code: .invalidArguments, rule: .zonesOnce, isWhole: true) { _ in
            .zones(saving: [ZoneID("Z")], deleting: [ZoneID("Z")])
        },
        Case(code: .serverRecordChanged, rule: .staleTag) { world in
            let first = try world.save("there", ["n": .int64(1)])
            try world.save("there", ["n": .int64(2)], base: first)
            return saving("there", base: first, ["n": .int64(3)])
        },
        Case(code: .unknownItem, rule: .tagOfMissingRecord, fact: "was deleted") { world in
            let gone = try world.save("gone")
            try world.delete("gone")
            return saving("gone", base: gone)
        },
        Case(code: .unknownItem, rule: .tagOfMissingRecord, fact: "had created the record") { _ in
            saving("never", base: Version(offset: 1, eventIndex: 0))
        },
        Case(code: .unknownItem, rule: .tagOfMissingRecord, fact: "was created again") { world in
            let gone = try world.save("gone")
            try world.modify(.zones(deleting: [notes]))
            try world.modify(.zones(saving: [notes]))
            return saving("gone", base: gone)
        },
        Case(code: .zoneNotFound, rule: .existingZone, fact: "no commit") { _ in saving("a", in: ZoneID("Nowhere")) },
        Case(code: .zoneNotFound, rule: .existingZone, fact: "was deleted") { world in
            try world.modify(.zones(deleting: [notes]))
            return saving("a")
        },
        Case(code: .zoneNotFound, rule: .ownZone) { _ in saving("a", in: ZoneID("Notes", owner: "_bert")) },
        Case(code: .userDeletedZone, rule: .zonesTakenByService, fact: "was purged") { world in
            try world.store.purgeZone(notes, of: "anna")
            return saving("a")
        },
        Case(code: .zoneNotFound, rule: .existingZoneOfDelete, fact: "no commit") { _ in
            .zones(deleting: [ZoneID("Nowhere")])
        },
        Case(code: .invalidArguments, rule: .recordNames) { _ in saving("_a") },
        Case(code: .invalidArguments, rule: .zoneNames) { _ in .zones(saving: [ZoneID("_a")]) },
        Case(code: .invalidArguments, rule: .recordTypes) { _ in saving("a", type: "1") },
        Case(code: .invalidArguments, rule: .keys) { _ in saving("a", ["_x": .int64(1)]) },
        Case(code: .invalidArguments, rule: .encryptedValues) { _ in
            let sealed = FieldValue.sealed(
                .init(keyID: 1, nonce: [UInt8](repeating: 0, count: 24), ciphertext: [UInt8](repeating: 1, count: 17)))
            return saving("a", in: ZoneID("_defaultZone"), scope: .public, ["s": sealed])
        },
        Case(code: .invalidArguments, rule: .boundKinds, fact: "was bound as") { world in
            try world.save("there", ["n": .int64(1)])
            return saving("a", ["n": .string("x")])
        },
        Case(code: .invalidArguments, rule: .referencesWithinZone) { world in
            try world.modify(.zones(saving: [ZoneID("Other")]))
            var builder = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
            let link = builder.reference(to: RecordID("x", zone: ZoneID("Other")))
            builder.save(RecordID("a", zone: notes), type: "Note", fields: ["link": link])
            return builder.request
        },
        Case(code: .limitExceeded, rule: .byteLimit) { _ in
            saving("a", ["d": .data([UInt8](repeating: 0, count: 1_001))])
        },
        Case(code: .quotaExceeded, rule: .recordLimits, fact: "the quota of anna was 10 bytes") { world in
            try world.store.setQuota(bytes: 10, of: "anna")
            return saving("a", ["d": .data([UInt8](repeating: 0, count: 20))])
        },
        Case(code: .referenceViolation, rule: .existingParent) { _ in saving("a", parent: .set("nobody")) },
        Case(code: .referenceViolation, rule: .neededParent) { world in
            try world.save("parent")
            try world.save("child", parent: .set("parent"))
            var builder = RequestBuilder(DatabaseID(.private))
            builder.delete(RecordID("parent", zone: notes))
            return builder.request
        },
        Case(code: .permissionFailure, rule: .grants, fact: "was created by bert") { world in
            try world.modify(saving("bert's", in: ZoneID("_defaultZone"), scope: .public), as: bert)
            try world.modify(.zones(saving: [notes]), as: bert)
            var builder = RequestBuilder(DatabaseID(.public), policy: .changedKeys)
            builder.save(RecordID("bert's", zone: ZoneID("_defaultZone")), type: "Note", fields: ["n": .int64(1)])
            return builder.request
        },
        Case(
            code: .permissionFailure, rule: .grants, fact: "WRITE on type Note was granted to Editors, _creator alone"
        ) { world in
            try world.modify(saving("bert's", in: ZoneID("_defaultZone"), scope: .public), as: bert)
            try world.modify(.zones(saving: [notes]), as: bert)
            let grants = "GRANT WRITE TO Editors, GRANT WRITE TO \"_creator\", GRANT READ TO \"_world\""
            try world.store.declareSchema(try SchemaDefinition(reading: Self.schema(grants)))
            var builder = RequestBuilder(DatabaseID(.public))
            builder.delete(RecordID("bert's", zone: ZoneID("_defaultZone")))
            return builder.request
        },
        Case(code: .permissionFailure, rule: .grants, fact: "anna was a member of Readers") { world in
            try world.modify(saving("bert's", in: ZoneID("_defaultZone"), scope: .public), as: bert)
            let grants = "GRANT CREATE TO Editors, GRANT READ TO Readers"
            try world.store.declareSchema(try SchemaDefinition(reading: Self.schema(grants)))
            try world.store.setRole("Readers", of: ["anna"])
            return saving("mine", in: ZoneID("_defaultZone"), scope: .public)
        },
        Case(code: .permissionFailure, rule: .readGrants, fact: "READ on type Note was granted to Editors alone") {
            world in
            try world.modify(saving("bert's", in: ZoneID("_defaultZone"), scope: .public), as: bert)
            let grants = "GRANT CREATE TO \"_icloud\", GRANT READ TO Editors"
            try world.store.declareSchema(try SchemaDefinition(reading: Self.schema(grants)))
            let notes = NamedSubscription(
                "s", .query, recordType: "Note", predicate: "TRUEPREDICATE", options: .events)
            return .subscriptions(saving: [notes], in: DatabaseID(.public))
        },
        Case(code: .permissionFailure, rule: .userRecords) { _ in saving("a", type: "Users") },
        Case(code: .zoneNotFound, rule: .deleteInMissingZone) { _ in
            var builder = RequestBuilder(DatabaseID(.private))
            builder.delete(RecordID("a", zone: ZoneID("Nowhere")))
            return builder.request
        },
        Case(code: .serverRejectedRequest, rule: .subscriptionsOnce, fact: "the subscription 'first' was saved") {
            world in
            let first = NamedSubscription("first", .database, notification: NotificationInfo())
            try world.modify(.subscriptions(saving: [first]))
            return .subscriptions(saving: [NamedSubscription("again", .database, notification: NotificationInfo())])
        },
        Case(code: .unknownItem, rule: .existingSubscription) { _ in .subscriptions(deleting: ["none"]) },
        Case(code: .badDatabase, rule: .subscriptionScope) { _ in
            .subscriptions(saving: [NamedSubscription("d", .database)], in: DatabaseID(.public))
        },
        Case(code: .invalidArguments, rule: .subscriptionEvents) { _ in
            .subscriptions(saving: [
                NamedSubscription("q", .query, recordType: "Note", predicate: "TRUEPREDICATE", options: [])
            ])
        },
        Case(code: .invalidArguments, rule: .subscriptionPredicate) { _ in
            .subscriptions(saving: [
                NamedSubscription("q", .query, recordType: "Note", predicate: "not a one", options: [.creation])
            ])
        },
        Case(code: .zoneNotFound, rule: .subscribedZone) { _ in
            .subscriptions(saving: [NamedSubscription("z", .recordZone, zone: ZoneID("Nowhere"))])
        },
    ]

    @Test("A refusal names the rule that decided, and what the state had", arguments: cases)
    func refusals(_ one: Case) throws {
        // No larger than what an audit keeps.
        var options = StoreOptions.service
        (options.limits.recordBytes, options.limits.requestBytes) = (1_000, 2_000)
        let world = try RefusingStore(options)
        let why = try world.explainRefusal(of: one.ask(world), as: one.actor)
        #expect(why.outcome == .refused && why.judgedAt == world.askedOn && why.notes.isEmpty, "\(why.notes)")
        #expect(why.actor.user == one.actor.user)
        let rules = one.isWhole ? why.rules : why.culprits.flatMap(\.rules)
        #expect(rules.map(\.rule) == [one.rule], "\(why)")
        if one.isWhole {
            #expect(why.code == one.code && why.message?.isEmpty == false)
        } else {
            #expect(why.code == nil && why.culprits.map(\.code) == [one.code])
            #expect(why.culprits.allSatisfy { $0.message?.isEmpty == false })
        }
        let facts = one.isWhole ? why.facts : why.culprits.flatMap(\.facts)
        if let text = one.fact {
            #expect(facts.contains { $0.text.contains(text) }, "\(facts)")
            for offset in facts.compactMap(\.offset) { #expect(try world.store.log.commit(at: offset) != nil) }
        }
    }

    @Test("Of an atomic zone the culprits are told from the bystanders")
    func atomicFailure() throws {
        let world = try RefusingStore()
        let there = try world.save("there")
        try world.save("old")
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(RecordID("new", zone: Self.notes), type: "Note")
        builder.save(RecordID("there", zone: Self.notes), type: "Note")
        builder.delete(RecordID("old", zone: Self.notes))
        let why = try world.explainRefusal(of: builder.request)
        #expect(why.isAtomic == true && why.culprits.map(\.name) == ["there"])
        #expect(why.culprits.first?.stored == there && why.culprits.first?.conflict != nil)
        #expect(why.bystanders.map(\.name) == ["new", "old"])
        #expect(why.bystanders.allSatisfy { $0.rules.map(\.number) == ["B81"] && $0.code == .batchRequestFailed })
        #expect(why.bystanders.allSatisfy { $0.facts.map(\.text) == ["save 1, there, failed"] })
    }

    @Test("A refusal that was noted behind later commits is judged on the state that it met")
    func laterCommits() throws {
        var options = StoreOptions.service
        options.recordsRefusals = true
        let world = try RefusingStore(options)
        try world.modify(.zones(deleting: [Self.notes]))
        let met = world.store.offset
        try world.modify(Self.saving("a"))
        // The zone is there again before the refusal is noted, with the commit that makes it.
        try world.modify(.zones(saving: [Self.notes]))
        let why = try world.explainRefusal(of: Self.saving("b", in: ZoneID("Nowhere")))
        #expect(why.judgedAt == world.askedOn)
        for offset in met...why.offset {
            guard let found = try? Explanation.of(offset, in: world.store), found.outcome == .refused,
                found.items.first?.name == "a"
            else { continue }
            #expect(found.judgedAt == met && found.items[0].facts.first?.offset == met)
            return
        }
        Issue.record("no refusal of 'a'")
    }

    @Test("A request is judged by the rules that the log states, not by those of the open store")
    func otherOptions() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.schema = .enforced
        let enforced: UInt64
        do {
            let world = try RefusingStore(options, at: path)
            let why = try world.explainRefusal(of: Self.saving("a"))
            #expect(why.items.first?.rules.map(\.number) == ["B24"] && why.notes.isEmpty)
            enforced = why.offset
            try world.store.close()
        }
        // From another opening on, the schema is open and there is room for one item in a request.
        options.schema = .open
        options.limits.itemsPerRequest = 1
        let limited: UInt64
        do {
            let world = try RefusingStore(options, at: path)
            try world.save("a")
            let why = try world.explainRefusal(of: .zones(saving: [ZoneID("A"), ZoneID("B")]))
            #expect(why.rules.map(\.rule) == [.itemLimit] && why.notes.isEmpty, "\(why)")
            limited = why.offset
            try world.store.close()
        }
        let open = try Store.open(at: path, options: .service, access: .readOnly)
        defer { try? open.close() }
        let why = try Explanation.of(enforced, in: open)
        #expect(why.items.first?.rules.map(\.number) == ["B24"] && why.notes.isEmpty, "\(why)")
        let other = try Explanation.of(limited, in: open)
        #expect(other.rules.map(\.rule) == [.itemLimit] && other.notes.isEmpty, "\(other)")
    }

    @Test("A request that cannot be encoded, or is too large to be kept, says so")
    func notKept() throws {
        let world = try RefusingStore()
        let why = try world.explainRefusal(
            of: Self.saving("_a", ["d": .data([UInt8](repeating: 1, count: 300_000))]))
        #expect(why.items.map(\.code) == [.invalidArguments] && why.items[0].rules.isEmpty && why.judgedAt == nil)
        #expect(why.notes.count == 1 && why.notes[0].hasSuffix(" bytes was not kept."), "\(why.notes)")
        #expect(why.actor == Self.phone)
        var request = Self.saving("a")
        if case .modifyRecords(var body) = request.content {
            body.clientToken = [UInt8](repeating: 1, count: 65_537)
            request.content = .modifyRecords(body)
        }
        let whole = try world.explainRefusal(of: request)
        #expect(whole.code == .invalidArguments && whole.message?.contains("client token") == true)
        #expect(whole.items.isEmpty && whole.rules.isEmpty && whole.notes == ["The request is not recorded."])
    }

    // MARK: What was accepted

    @Test("Each item that was accepted has its rule")
    func accepted() throws {
        let world = try RefusingStore()
        let milk = try world.save("milk")
        func rules(_ offset: UInt64) throws -> [[String]] {
            let why = try Explanation.of(offset, in: world.store)
            #expect(why.outcome == .accepted && why.notes.isEmpty && why.judgedAt == offset - 1, "\(why)")
            return why.items.isEmpty ? [why.rules.map(\.number)] : why.items.map { $0.rules.map(\.number) }
        }
        #expect(try rules(1) == [["§3"]])
        #expect(try rules(milk.offset) == [["B51"]])
        let second = try world.save("milk", ["n": .int64(1)], base: milk)
        #expect(try rules(second.offset) == [["B51"]])
        let why = try Explanation.of(second.offset, in: world.store)
        #expect(why.items[0].made == second && why.items[0].base == milk && why.items[0].code == nil)
        #expect(why.items[0].rules[0].finding.contains(milk.tag))
        let third = try world.save("milk", base: milk, policy: .changedKeys)
        #expect(try rules(third.offset) == [["B55"]])
        let fourth = try world.save("milk", policy: .allKeys)
        #expect(try rules(fourth.offset) == [["B56"]])
        let child = try world.save("child", parent: .set("milk"), policy: .allKeys)
        #expect(try rules(child.offset) == [["B57", "B61"]])
        try world.delete("child")
        #expect(try rules(world.store.offset) == [["§7"]])
        try world.modify(.subscriptions(saving: [NamedSubscription("d", .database)]))
        #expect(try rules(world.store.offset) == [["§11"]])
        try world.store.setQuota(bytes: 1_000, of: "anna")
        #expect(try rules(world.store.offset) == [["§13"]])
    }

    @Test("What the public database accepts names the grant that let it pass")
    func acceptedByGrant() throws {
        let world = try RefusingStore()
        let home = ZoneID("_defaultZone")
        func findings(_ request: Request, as actor: Actor = Self.phone) throws -> [String] {
            let answer = try world.modify(request, as: actor)
            let why = try Explanation.of(try #require(answer.offset), in: world.store)
            return why.items.flatMap(\.rules).filter { $0.rule == .grants }.map(\.finding)
        }
        let saving = Self.saving("a", in: home, scope: .public)
        #expect(try findings(saving) == ["CREATE is granted to _icloud"])
        #expect(
            try findings(Self.saving("a", in: home, scope: .public, ["n": .int64(1)])) == [
                "WRITE is granted to _creator"
            ])
        let grants = "GRANT WRITE TO Editors, GRANT READ TO \"_world\""
        try world.store.declareSchema(try SchemaDefinition(reading: Self.schema(grants)))
        try world.store.setRole("Editors", of: ["bert"])
        var builder = RequestBuilder(DatabaseID(.public))
        builder.delete(RecordID("a", zone: home))
        #expect(try findings(builder.request, as: Self.bert) == ["WRITE is granted to Editors"])
    }

    @Test("Of what was accepted in part each item has its answer")
    func acceptedInPart() throws {
        let world = try RefusingStore()
        let home = ZoneID("_defaultZone")
        let there = try world.save("there", in: home)
        var builder = RequestBuilder(DatabaseID(.private))
        builder.save(RecordID("there", zone: home), type: "Note", fields: ["n": .int64(1)])
        builder.save(RecordID("new", zone: home), type: "Note")
        let answer = try world.modify(builder.request)
        let why = try Explanation.of(try #require(answer.offset), in: world.store)
        #expect(why.outcome == .acceptedInPart && why.items.map(\.code) == [.serverRecordChanged, nil])
        #expect(why.items.map { $0.rules.map(\.number) } == [["B52"], ["B51"]])
        #expect(why.items[0].conflict?.server == there && why.items[1].made?.offset == answer.offset)
    }

    @Test("Deleting what is not there is explained")
    func nothingToDelete() throws {
        let world = try RefusingStore()
        var builder = RequestBuilder(DatabaseID(.private))
        builder.delete(RecordID("none", zone: Self.notes))
        let why = try world.explainRefusal(of: builder.request)
        #expect(why.outcome == .nothingToDo && why.items.map { $0.rules.map(\.number) } == [["B91"]])
    }

    // MARK: Nothing to explain

    @Test("An offset that is not there is an error, and a commit without a request is told as one")
    func nothingThere() throws {
        let directory = try TestDirectory()
        let world = try RefusingStore(at: directory.path("Notes.strata"))
        for offset in [0, world.store.offset + 1, UInt64.max] {
            #expect { try Explanation.of(offset, in: world.store) } throws: { error in
                (error as? StrataError)?.code == .outOfRange
            }
        }
        try world.save("a")
        try world.save("b")
        try world.store.compact(before: 3)
        #expect { try Explanation.of(2, in: world.store) } throws: { ($0 as? StrataError)?.code == .outOfRange }
        #expect(try Explanation.of(3, in: world.store).outcome == .accepted)
        var options = StoreOptions.service
        options.recordsFetches = true
        let other = try RefusingStore(options)
        _ = try other.store.fetch([other.id("a")], in: DatabaseID(.private), as: Self.phone)
        try other.flush()
        let all = try (1...other.store.offset).map { try Explanation.of($0, in: other.store) }
        let unasked = all.filter { $0.outcome == .withoutRequest }
        #expect(unasked.count == 1, "the fetch: \(all.map(\.outcome))")
        #expect(unasked.first?.notes.first?.contains("only records an event") == true, "\(unasked)")
    }
}

extension Explanation {
    fileprivate var bystanders: [Item] { items.filter(\.isBystander) }
}
