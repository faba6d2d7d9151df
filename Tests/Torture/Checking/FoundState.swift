import Foundation
import StrataModel
import StrataQuery
import StrataStore

/// What a user's private database holds, as the feeds tell it.
struct FoundState {
    private let content: WriterContent
    private let actor: Actor
    private var zones: [String: [String: Record]] = [:]
    private var subscriptions: Set<String> = []
    private let copy = "/tmp/torture-asset-\(getpid())"
    private static let own = DatabaseID(.private)

    init(_ store: Store, _ content: WriterContent) throws {
        self.content = content
        actor = Actor(user: content.user)
        let snapshot = store.snapshot()
        for zone in try snapshot.zones(in: Self.own, as: actor) where zone.id.name != "_defaultZone" {
            zones[zone.id.name] = try Self.records(store, zone.id, actor)
        }
        subscriptions = Set(try snapshot.subscriptions(in: Self.own, as: actor).map(\.id))
        self.store = store
    }

    private let store: Store

    private static func records(_ store: Store, _ zone: ZoneID, _ actor: Actor) throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: FeedToken?
        while true {
            let page = try store.zoneChanges(of: zone, in: own, since: token, as: actor)
            for record in page.changed { records[record.id.name] = record }
            for deletion in page.deleted { records[deletion.id.name] = nil }
            token = page.token
            guard page.moreComing else { return records }
        }
    }

    // MARK: Against the plan

    /// The first thing that is not as the plan says; nil if all is.
    func firstDifference(from plan: WriterPlan) throws -> String? {
        if subscriptions != plan.subscriptions {
            return "subscriptions \(subscriptions.sorted()), expected \(plan.subscriptions.sorted())"
        }
        if Set(zones.keys) != Set(plan.zones.keys) {
            return "zones \(zones.keys.sorted()), expected \(plan.zones.keys.sorted())"
        }
        for (zone, expected) in plan.zones {
            let found = zones[zone] ?? [:]
            for name in expected.names where found[name] == nil { return "\(zone)/\(name) is missing" }
            for (name, record) in found {
                guard let item = expected.items[name] else { return "\(zone)/\(name) should not be there" }
                if let difference = try difference(of: record, from: item) { return "\(zone)/\(name): \(difference)" }
            }
        }
        return nil
    }

    private func difference(of record: Record, from item: WriterPlan.Item) throws -> String? {
        guard case .int64(let number)? = try record["number"], number == item.number else {
            return "number \(String(describing: try record["number"])), expected \(item.number)"
        }
        guard case .string(let text)? = try record["text"], text == content.text(item.number, of: record.id.name) else {
            return "another text"
        }
        var sealed: String?
        if case .string(let value)? = try record.opened("sealed") { sealed = value }
        if sealed != item.sealed.map(content.sealed) { return "another encrypted value" }
        var link: String?
        if case .reference(let reference)? = try record["link"] { link = reference.target.name }
        if link != item.link { return "link \(link ?? "none"), expected \(item.link ?? "none")" }
        guard case .asset(let asset)? = try record["asset"] else { return item.asset == nil ? nil : "no asset" }
        guard let source = item.asset else { return "an asset" }
        defer { unlink(copy) }
        try store.copyAsset(asset, to: copy)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        return Array(bytes) == content.asset(source) ? nil : "another file of the asset"
    }

    // MARK: Other ways of reading

    /// Fetches and queries, plain and sorted, give the same records as the feed.
    func checkOtherReads(_ store: Store) throws {
        for (zone, records) in zones where !records.isEmpty {
            let ids = records.values.map(\.id)
            for start in stride(from: 0, to: ids.count, by: 200) {
                for result in try store.fetch(Array(ids[start..<min(start + 200, ids.count)]), in: Self.own, as: actor)
                {
                    let record = try result.get()
                    if record.version != records[record.id.name]?.version {
                        Telling.wrong("\(actor.user) \(zone)/\(record.id.name): a fetch and the feed differ")
                    }
                }
            }
            let plain = try queried(store, zone, order: [])
            let sorted = try queried(store, zone, order: [.key("number", isAscending: true)])
            for (name, found) in [("query", plain), ("sorted query", sorted)] {
                let same =
                    found.count == records.count && found.allSatisfy { records[$0.id.name]?.version == $0.version }
                if !same { Telling.wrong("\(actor.user) \(zone): a \(name) and the feed differ") }
            }
            let numbers = try sorted.map { try $0["number"] }.map { value -> Int64 in
                if case .int64(let number)? = value { number } else { .min }
            }
            if numbers != numbers.sorted() { Telling.wrong("\(actor.user) \(zone): a sorted query is not sorted") }
        }
    }

    private func queried(_ store: Store, _ zone: String, order: [SortKey]) throws -> [Record] {
        var records: [Record] = []
        var question = Question.new(Query("Note", order: order, zone: ZoneID(zone)))
        while true {
            let page = try store.query(question, in: Self.own, as: actor)
            records += page.matches
            guard let cursor = page.cursor else { return records }
            question = .continued(cursor)
        }
    }
}
