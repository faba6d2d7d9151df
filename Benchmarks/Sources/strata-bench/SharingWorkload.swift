import StrataLog
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem
import StrataViews

/// Shared hierarchies: what a participant pays, beside the owner of the same records.
struct SharingWorkload: StoreFolderWorkload {
    static let name = "sharing"

    enum Part: String, CaseIterable {
        case members, children, changes
    }

    private static let recordsPerShare = 100
    private static let sharesPerZone = 100
    private static let sharesPerUser = 20
    private static let privateDatabase = DatabaseID(.private)
    private static let sharedDatabase = DatabaseID(.shared)

    let size: WorkloadSize
    let folder: String
    private let owner = Actor(user: "anna", device: "phone")

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if isWanted(.members) { measurements += try members(progress) }
        if isWanted(.children) { measurements += try children(progress) }
        if isWanted(.changes) { measurements += try changes(progress) }
        return measurements
    }

    private func member(_ number: Int) -> Actor { Actor(user: "member \(number)", device: "phone") }

    /// The name that every user's own record is given.
    private static func recordName(of user: String) -> String { "_" + user }

    /// The zone as its owner names it, and as members do.
    private func zone(_ number: Int) -> (own: ZoneID, shared: ZoneID) {
        let name = "Lists \(number)"
        return (ZoneID(name), ZoneID(name, owner: Self.recordName(of: owner.user)))
    }

    @discardableResult
    private func modify(_ store: Store, _ request: Request, as actor: Actor) throws -> RequestResult {
        let result = try store.modify(request, as: actor).result
        for save in result.saves { _ = try save.get() }
        if let refusal = result.deletes.compactMap({ $0 }).first { throw refusal }
        return result
    }

    // MARK: Making hierarchies

    /// Builds requests that save trees of tasks.
    private struct Trees {
        private(set) var names = RequestNames()
        private(set) var body = ModifyRecordsRequest(policy: .allKeys)
        private let zone: UInt64
        private let database: DatabaseID

        init(in zone: ZoneID, _ database: DatabaseID = SharingWorkload.privateDatabase) {
            self.database = database
            self.zone = names.ordinal(of: zone)
        }

        var request: Request { Request(database: database, names: names, .modifyRecords(body)) }

        mutating func save(_ name: String, _ number: Int, under parent: String? = nil, share: String? = nil) {
            let fields = [
                FieldChange(names.ordinal(ofKey: "title"), .string("The quick brown fox jumps over dog \(number)")),
                FieldChange(names.ordinal(ofKey: "priority"), .int64(Int64(number % 100))),
            ]
            body.saves.append(
                .init(
                    RecordKey(zone: zone, name: name), type: names.ordinal(ofType: "Task"),
                    parent: parent.map { .set(RecordKey(zone: zone, name: $0)) } ?? .kept,
                    share: share.map { .set(RecordKey(zone: zone, name: $0)) } ?? .kept, fields: fields))
        }

        mutating func share(_ root: String, with users: [String]) {
            let participants = users.map { user in
                ShareChange.Participant(
                    user, .user(recordName: SharingWorkload.recordName(of: user)), role: .privateUser,
                    permission: .readWrite)
            }
            body.saves.append(
                .init(
                    RecordKey(zone: zone, name: "Share-\(root)"), type: names.ordinal(ofType: ShareState.recordType),
                    sharing: ShareChange(root: root, participants: participants)))
        }

        mutating func delete(_ name: String) { body.deletes.append(RecordKey(zone: zone, name: name)) }
    }

    private func makeZones(_ store: Store, _ count: Int) throws {
        try store.setPerson(Person(), of: owner.user, recordName: Self.recordName(of: owner.user))
        try modify(store, QueryRecords.making((0..<count).map { zone($0).own }), as: owner)
    }

    /// Every user must be known before anybody can be invited.
    private func makeUsers(_ store: Store, _ count: Int) throws {
        for number in 0..<count {
            let user = member(number).user
            try store.setPerson(Person(), of: user, recordName: Self.recordName(of: user))
            try modify(store, QueryRecords.making([ZoneID("Own")]), as: member(number))
        }
    }

    private func accept(_ store: Store, _ shares: [(zone: Int, root: String)], as member: Actor) throws {
        let tokens = try shares.map { share in
            let id = RecordID("Share-\(share.root)", zone: zone(share.zone).own)
            let record = try store.snapshot().record(id, in: Self.privateDatabase, as: owner)
            guard let state = try record.shareState else { throw BenchError(message: "\(id.name) is not a share") }
            return state.urlToken
        }
        try modify(
            store, Request(database: Self.sharedDatabase, .joinShares(.init(.accept, tokens: tokens))), as: member)
    }

    // MARK: A participant beside the owner

    private static func name(_ share: Int, _ record: Int) -> String {
        record == 0 ? "root-\(share)" : "task-\(share)-\(record)"
    }

    /// A million records in 10,000 hierarchies, each shared with two of 1,000 users, who so have 20 shares each.
    private func fill(_ store: Store, shareCount: Int, userCount: Int) throws {
        try makeZones(store, shareCount / Self.sharesPerZone)
        try makeUsers(store, userCount)
        for first in stride(from: 0, to: shareCount, by: 50) {
            var trees = Trees(in: zone(first / Self.sharesPerZone).own)
            for share in first..<first + 50 {
                let root = Self.name(share, 0)
                trees.save(root, share, share: "Share-\(root)")
                trees.share(root, with: users(of: share, userCount).map { member($0).user })
                for record in 1..<Self.recordsPerShare {
                    // A tree of three levels below the root.
                    let parent = record < 10 ? 0 : record / 10
                    trees.save(Self.name(share, record), share + record, under: Self.name(share, parent))
                }
            }
            try modify(store, trees.request, as: owner)
        }
        for number in 0..<userCount {
            let shares = self.shares(of: number, shareCount).map { (zone: $0 / Self.sharesPerZone, Self.name($0, 0)) }
            try accept(store, shares, as: member(number))
        }
    }

    private func shares(of user: Int, _ shareCount: Int) -> [Int] {
        (0..<Self.sharesPerUser).map { (user * Self.sharesPerUser / 2 + $0) % shareCount }
    }

    private func users(of share: Int, _ userCount: Int) -> [Int] {
        let last = share / (Self.sharesPerUser / 2)
        return [last % userCount, (last + userCount - 1) % userCount]
    }

    private func members(_ progress: (String) -> Void) throws -> [Measurement] {
        let shareCount = size.isQuick ? 1_000 : 10_000
        let userCount = shareCount / (Self.sharesPerUser / 2)
        progress("sharing: \(shareCount * Self.recordsPerShare) records in \(shareCount) shared hierarchies")
        let store = try open("members")
        defer { removing("members", store) }
        try fill(store, shareCount: shareCount, userCount: userCount)
        // Else the first queries would be measured without the index, and the next ones beside its building.
        try store.declareIndexes(type: "Task", fields: [("priority", .queryable)])
        store.awaitIndexes()
        let member = member(7)
        let seen = shares(of: 7, shareCount)
        let zone = zone(seen[0] / Self.sharesPerZone)
        var turn = 0
        func fetch(_ zone: ZoneID, _ database: DatabaseID, _ actor: Actor) throws {
            turn += 1
            let name = Self.name(seen[turn % seen.count], turn % Self.recordsPerShare)
            _ = try store.snapshot().record(RecordID(name, zone: zone), in: database, as: actor)
        }
        func ask(_ zone: ZoneID, _ database: DatabaseID, _ actor: Actor) throws {
            turn += 1
            let query = Query("Task", where: try PredicateParser.parse("priority = \(turn % 100)"), zone: zone)
            let page = try store.query(.new(query), in: database, limit: 20, as: actor)
            guard page.matches.count == 20 else { throw BenchError(message: "\(page.matches.count) of 20 tasks") }
        }
        func page(_ zone: ZoneID, _ database: DatabaseID, _ actor: Actor) throws {
            let page = try store.zoneChanges(of: zone, in: database, limit: 200, as: actor)
            for record in page.changed { try record.forEachField { _, _ in } }
            guard page.changed.count == 200 else { throw BenchError(message: "\(page.changed.count) of 200 records") }
        }
        func compare(
            _ metric: String, _ bar: Double, _ body: @escaping (ZoneID, DatabaseID, Actor) throws -> Void
        ) throws -> Measurement {
            let figures = try alternating(
                rounds: size.rounds,
                [
                    { try size.milliseconds { try body(zone.shared, Self.sharedDatabase, member) } * 1_000 },
                    { try size.milliseconds { try body(zone.own, Self.privateDatabase, owner) } * 1_000 },
                ])
            return Measurement(
                workload: Self.name, metric: metric, unit: "µs", strata: figures[0], peer: "owner",
                peerValues: figures[1], bar: .ratioAtMost(bar))
        }
        return [
            try compare("participant's fetch by ID", 1.3, fetch),
            try compare("participant's query in a zone, 20 hits", 1.5, ask),
            try compare("participant's feed page of 200", 1.5, page),
            try tail(store, member, zone, seen[0]),
        ]
    }

    /// The feed of a participant after a token: 100 changes of one hierarchy.
    private func tail(
        _ store: Store, _ member: Actor, _ zone: (own: ZoneID, shared: ZoneID), _ share: Int
    ) throws -> Measurement {
        var token: FeedToken?
        while true {
            let page = try store.zoneChanges(of: zone.shared, in: Self.sharedDatabase, since: token, as: member)
            token = page.token
            if !page.moreComing { break }
        }
        var trees = Trees(in: zone.own)
        for record in 0..<Self.recordsPerShare { trees.save(Self.name(share, record), record) }
        try modify(store, trees.request, as: owner)
        let figures = try (0..<size.rounds).map { _ in
            try size.milliseconds {
                let page = try store.zoneChanges(
                    of: zone.shared, in: Self.sharedDatabase, since: token, limit: 200, as: member)
                guard page.changed.count == 100, !page.moreComing else {
                    throw BenchError(message: "\(page.changed.count) of 100 changes")
                }
            } * 1_000
        }
        return Measurement(
            workload: Self.name, metric: "100 changes in a shared zone after a token", unit: "µs", strata: figures,
            bar: .atMost(500))
    }

    // MARK: Children

    /// Saves of children at depth 10, in a shared hierarchy beside one that is not shared.
    private func children(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("sharing: children at depth 10")
        let store = try open("children")
        defer { removing("children", store) }
        try makeZones(store, 2)
        try makeUsers(store, 1)
        for number in 0..<2 {
            var trees = Trees(in: zone(number).own)
            trees.save("root", 0, share: number == 0 ? "Share-root" : nil)
            if number == 0 { trees.share("root", with: [member(0).user]) }
            for depth in 1..<10 {
                trees.save("level-\(depth)", depth, under: depth == 1 ? "root" : "level-\(depth - 1)")
            }
            try modify(store, trees.request, as: owner)
        }
        try accept(store, [(0, "root")], as: member(0))
        var count = 0
        func rate(_ number: Int) throws -> Double {
            let start = secondsNow()
            let before = count
            while secondsNow() - start < size.roundSeconds / 2 {
                var trees = Trees(in: zone(number).own)
                for _ in 0..<400 {
                    count += 1
                    trees.save("child-\(count)", count, under: "level-9")
                }
                try modify(store, trees.request, as: owner)
            }
            return Double(count - before) / (secondsNow() - start)
        }
        let figures = try alternating(rounds: size.rounds, [{ try rate(0) }, { try rate(1) }])
        return [
            Measurement(
                workload: Self.name, metric: "saves of children at depth 10", unit: "/s", strata: figures[0],
                peer: "not shared", peerValues: figures[1], bar: .ratioAtLeast(0.8))
        ]
    }

    // MARK: Changes of visibility

    /// Joining, leaving, removing, and moving 10,000 records, one commit each.
    private func changes(_ progress: (String) -> Void) throws -> [Measurement] {
        let recordCount = 10_000
        progress("sharing: a hierarchy of \(recordCount)")
        let store = try open("changes")
        defer { removing("changes", store) }
        try makeZones(store, 1)
        try makeUsers(store, 2)
        let zone = zone(0)
        for root in ["first", "second"] {
            var trees = Trees(in: zone.own)
            trees.save(root, 0, share: "Share-\(root)")
            trees.share(root, with: [member(0).user, member(1).user])
            try modify(store, trees.request, as: owner)
        }
        for first in stride(from: 0, to: recordCount, by: 5_000) {
            var trees = Trees(in: zone.own)
            if first == 0 { trees.save("branch", 0, under: "first") }
            for number in max(1, first)..<first + 5_000 { trees.save("task-\(number)", number, under: "branch") }
            try modify(store, trees.request, as: owner)
        }
        try accept(store, [(0, "second")], as: member(1))
        var (joins, leaves, removals, moves): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for round in 0..<size.rounds * 2 {
            joins.append(try milliseconds { try accept(store, [(0, "first")], as: member(0)) })
            var leaving = Trees(in: zone.shared, Self.sharedDatabase)
            leaving.delete("Share-first")
            leaves.append(try milliseconds { try modify(store, leaving.request, as: member(0)) })
            try invite(store, "first", [0, 1])
            try accept(store, [(0, "first")], as: member(0))
            removals.append(try milliseconds { try invite(store, "first", [1]) })
            try invite(store, "first", [0, 1])
            var moving = Trees(in: zone.own)
            moving.save("branch", round, under: round % 2 == 0 ? "second" : "first")
            moves.append(try milliseconds { try modify(store, moving.request, as: owner) })
        }
        func measured(_ metric: String, _ values: [Double], _ bar: Double) -> Measurement {
            Measurement(workload: Self.name, metric: metric, unit: "ms", strata: values, bar: .atMost(bar))
        }
        return [
            measured("accepting a share of \(recordCount)", joins, 20),
            measured("leaving it", leaves, 20),
            measured("removing a participant", removals, 20),
            measured("moving \(recordCount) records under another root", moves, 200),
        ]
    }

    /// Saves the list of a share's participants.
    private func invite(_ store: Store, _ root: String, _ users: [Int]) throws {
        let id = RecordID("Share-\(root)", zone: zone(0).own)
        let version = try store.snapshot().record(id, in: Self.privateDatabase, as: owner).version
        var trees = Trees(in: zone(0).own)
        trees.share(root, with: users.map { member($0).user })
        var request = trees.request
        guard case .modifyRecords(var body) = request.content else { return }
        body.policy = .ifServerRecordUnchanged
        body.saves[0].base = version
        request.content = .modifyRecords(body)
        try modify(store, request, as: owner)
    }

    private func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = secondsNow()
        try body()
        return (secondsNow() - start) * 1_000
    }
}
