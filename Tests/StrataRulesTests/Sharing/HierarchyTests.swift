import StrataModel
import StrataViews
import TestSupport
import Testing

@testable import StrataRules

@Suite("Records of hierarchical shares")
struct HierarchyTests {
    private let store: ShareFixture

    init() throws { store = try ShareFixture() }

    private func share(of name: String) throws -> UInt64? {
        try store.view.fold.fork.hierarchicalShare(of: store.key(name))
    }

    /// Saves a stored record with its current tag.
    @discardableResult
    private func move(
        _ name: String, under parent: String?, scope: InternedName.Scope = .private, as user: String = "anna"
    ) throws -> Refusal.Code? {
        var item = ShareFixture.Item(name, base: try store.version(of: name), parent: parent)
        item.removesParent = parent == nil
        return try store.save([item], scope: scope, as: user).saves[0].code
    }

    private func shareRoot(_ root: String, as name: String, with users: [String] = ["ben"]) throws -> Refusal.Code? {
        let change = ShareChange(root: root, participants: users.map { .user($0, .readWrite) })
        let item = ShareFixture.Item(root, base: try store.version(of: root), share: name)
        return try store.save([item, .share(name, change)]).saves[1].code
    }

    @Test("B320, B321 A hierarchy is the root and what reaches it through parents, at any depth, also later")
    func depth() throws {
        try store.save([.init("list"), .init("a", parent: "list"), .init("b", parent: "a"), .init("other")])
        #expect(try shareRoot("list", as: "Share-1") == nil)
        #expect(try ["list", "a", "b"].map(share) == [1, 1, 1])
        #expect(try share(of: "other") == nil && share(of: "Share-1") == nil)
        try store.save([.init("d", parent: "c"), .init("c", parent: "b")])
        #expect(try ["c", "d"].map(share) == [1, 1])
    }

    @Test("B315 The records above a root are not shared")
    func above() throws {
        try store.save([.init("top"), .init("list", parent: "top"), .init("a", parent: "list")])
        #expect(try shareRoot("list", as: "Share-1") == nil)
        #expect(try share(of: "top") == nil && share(of: "a") == 1)
    }

    @Test("B312 Neither above nor below a root is there another one; siblings may be roots")
    func nested() throws {
        try store.save([.init("a"), .init("b", parent: "a"), .init("c", parent: "a"), .init("d", parent: "b")])
        #expect(try shareRoot("a", as: "Share-a") == nil)
        #expect(try shareRoot("b", as: "Share-b") == .alreadyShared)
        #expect(try shareRoot("d", as: "Share-d") == .alreadyShared)
        try store.save([], deleting: ["Share-a"])
        #expect(try ["a", "b", "c", "d"].map(share) == [nil, nil, nil, nil])
        #expect(try shareRoot("b", as: "Share-b") == nil)
        #expect(try shareRoot("c", as: "Share-c") == nil)
        #expect(try shareRoot("a", as: "Share-a") == .alreadyShared)
    }

    @Test("B313 Neither a root nor a record above one comes under another share")
    func movedRoot() throws {
        try store.save([.init("first"), .init("top"), .init("second", parent: "top")])
        #expect(try shareRoot("first", as: "Share-1") == nil && shareRoot("second", as: "Share-2") == nil)
        #expect(try move("second", under: "first") == .alreadyShared)
        #expect(try move("top", under: "first") == .alreadyShared)
        #expect(try share(of: "top") == nil)
        #expect(try move("second", under: nil) == nil && move("top", under: "first") == nil)
        #expect(try share(of: "top") == 1 && share(of: "second") == 2)
    }

    @Test("B322 A record comes with all below it from one share to another, in one commit")
    func moves() throws {
        try store.save([.init("first"), .init("second"), .init("a", parent: "first"), .init("b", parent: "a")])
        #expect(try shareRoot("first", as: "Share-1") == nil && shareRoot("second", as: "Share-2") == nil)
        #expect(try move("a", under: "second") == nil)
        #expect(try ["a", "b"].map(share) == [2, 2])
        // Both records leave one share and come under another, and the new parent gets a new tag.
        #expect(try store.events(ofKind: .sharedRecord) == 5)
        #expect(try move("a", under: nil) == nil)
        #expect(try ["a", "b"].map(share) == [nil, nil])
    }

    @Test("B322 Two moves of one request, where the second depends on the first")
    func twoMoves() throws {
        try store.save([.init("list"), .init("a"), .init("b"), .init("c", parent: "b"), .init("d")])
        #expect(try shareRoot("list", as: "Share-1") == nil)
        let (a, b) = (try store.version(of: "a"), try store.version(of: "b"))
        let result = try store.save([.init("b", base: b, parent: "a"), .init("a", base: a, parent: "list")])
        #expect(result.saves.allSatisfy { $0.code == nil })
        #expect(try ["a", "b", "c", "d"].map(share) == [1, 1, 1, nil])
    }

    @Test("B325 A root takes its share with it, and a zone its shares")
    func deletes() throws {
        try store.shareList(ShareChange(root: "list", participants: [.user("ben")]))
        try store.join([store.state().urlToken], as: "ben")
        try store.save([.init("a", parent: "list")])
        #expect(try store.save([], deleting: ["list"]).deletes[0]?.code == .referenceViolation)
        #expect(try store.save([], deleting: ["list", "a"]).deletes.allSatisfy { $0 == nil })
        #expect(try store.version(of: "Share-1") == nil && share(of: "list") == nil)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        #expect(try store.view.fold.fork.share(1)?.isEnded == true)

        #expect(try shareRoot("again", as: "Share-2") == nil)
        try store.join([store.state("Share-2").urlToken], as: "ben")
        try store.modify(.zones(deleting: [ZoneID("Notes")]))
        #expect(try store.view.fold.fork.share(2)?.isEnded == true)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true, true])
    }

    @Test("A save in a zone without shares has no event about shares")
    func unshared() throws {
        try store.shareList()
        try store.modify(.zones(saving: [ZoneID("Other")]))
        try store.save([.init("a"), .init("b", parent: "a")], zone: "Other")
        #expect(try store.events(ofKind: .sharedRecord) == 0)
    }

    // MARK: Against a plain model

    /// Returns the share of a record by following its parents in the stored records.
    private func plainShare(of name: String) throws -> UInt64? {
        var (next, seen): (String?, Set<String>) = (name, [])
        while let current = next, seen.insert(current).inserted {
            guard let stored = try store.view.record(store.key(current)) else { return nil }
            let record = try RecordState(decoding: stored.bytes[...])
            if let share = record.share, let stored = try store.view.record(share) {
                return try store.view.shareState(of: stored).number
            }
            next = record.parent?.name
        }
        return nil
    }

    @Test("After any requests, the trees say what following parents says", arguments: seeds(12))
    func randomHistory(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = (0..<10).map { "r\($0)" }
        var (sharedCount, leftCount) = (0, 0)
        for step in 0..<150 {
            var items: [ShareFixture.Item] = []
            var deletes: [String] = []
            let isMember = Int.random(in: 0..<4, using: &random) == 0
            for name in names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
                var item = ShareFixture.Item(name, base: try store.version(of: name))
                switch Int.random(in: 0..<6, using: &random) {
                case 0: deletes.append(name)
                case 1:
                    item.removesParent = true
                    items.append(item)
                case 2 where !isMember:
                    item.share = "Share-\(name)"
                    let change = ShareChange(root: name, participants: [.user("ben", .readWrite)])
                    items += [item, .share("Share-\(name)", change, base: try store.version(of: "Share-\(name)"))]
                case 3: deletes.append("Share-\(name)")
                default:
                    item.parent = names.randomElement(using: &random)
                    items.append(item)
                }
            }
            let isAtomic = Bool.random(using: &random)
            _ = try? store.save(
                items, deleting: deletes, isAtomic: isAtomic, scope: isMember ? .shared : .private,
                as: isMember ? "ben" : "anna")
            for name in names where Int.random(in: 0..<3, using: &random) == 0 {
                guard try store.version(of: "Share-\(name)") != nil else { continue }
                try store.join([store.state("Share-\(name)").urlToken], as: "ben")
            }
            for name in names {
                let found = try share(of: name)
                #expect(try found == plainShare(of: name), "\(name) after step \(step)")
                if found != nil { sharedCount += 1 }
            }
            let events = try Envelope(decoding: store.payload[...]).events.filter { $0.kind == .sharedRecord }
            leftCount += try events.count { try SharedRecordEvent(decoding: $0.body).isGone }
        }
        // Otherwise the requests were all refused, and nothing was compared.
        #expect(sharedCount > 100 && leftCount > 10, "\(sharedCount) shared, \(leftCount) left")
    }
}
