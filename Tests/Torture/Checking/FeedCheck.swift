import Foundation
import StrataModel
import StrataStore

/// Reads each zone's feed on from the token that the check before kept, and compares what a device would know then with
/// what is there.
struct FeedCheck {
    private let settings: ChildSettings
    private let store: Store

    init(_ settings: ChildSettings, _ store: Store) { (self.settings, self.store) = (settings, store) }

    private func path(_ plan: WriterPlan, _ zone: String) -> String {
        "\(settings.folder)/token-\(plan.content.writer)-\(zone)"
    }

    /// - Parameter before: the plan as it was when the tokens were kept.
    func run(from before: WriterPlan, to now: WriterPlan) throws {
        for zone in ["A", "B"] {
            let path = path(now, zone)
            if let known = before.zones[zone], let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)) {
                try follow(ZoneID(zone), known, since: store.token(from: Array(bytes)), now)
            }
            guard now.zones[zone] != nil else { continue }
            var token: FeedToken?
            try pages(of: ZoneID(zone), since: nil, now) { token = $0.token }
            try token.map { try Data(store.bytes(of: $0)).write(to: URL(fileURLWithPath: path)) }
        }
    }

    private func pages(
        of zone: ZoneID, since token: FeedToken?, _ plan: WriterPlan, _ body: (ZoneFeedPage) -> Void
    ) throws {
        var token = token
        while true {
            let page = try store.zoneChanges(
                of: zone, in: DatabaseID(.private), since: token, as: Actor(user: plan.user))
            body(page)
            token = page.token
            guard page.moreComing else { return }
        }
    }

    private func follow(
        _ zone: ZoneID, _ known: WriterPlan.Zone, since token: FeedToken, _ now: WriterPlan
    ) throws {
        var names = Set(known.names)
        var changed: Set<String> = []
        do {
            try pages(of: zone, since: token, now) { page in
                for record in page.changed { names.insert(record.id.name) }
                for deletion in page.deleted { names.remove(deletion.id.name) }
                changed.formUnion(page.changed.map(\.id.name))
            }
        } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
            // History since then was compacted, and the feed says so.
            return Telling.count("expired feeds", 1)
        }
        Telling.count("feeds", 1)
        let expected = now.zones[zone.name] ?? WriterPlan.Zone()
        let missed = expected.items.filter { known.items[$0.key] != $0.value && !changed.contains($0.key) }
        if names != Set(expected.names) || !missed.isEmpty {
            Telling.lost("\(now.user) \(zone.name): the feed from an old token misses \(missed.keys.sorted())")
        }
    }
}
