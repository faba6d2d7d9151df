import StrataModel
import StrataRules
import StrataViews

/// Facts about shares, which decide what a member may do in the shared database.
extension ExplainedState {
    /// Returns the share that a record belongs to and the actor's permission in it; or the actor's memberships in the
    /// zone, if the record belongs to none of their shares.
    func sharingFacts(_ item: Explanation.Item) throws -> [Explanation.Fact] {
        if case .joinShares(let body) = request.content {
            return try tokenFacts(body.tokens.indices.contains(item.index) ? body.tokens[item.index] : "")
        }
        guard let id = item.zone else { return [] }
        guard let zone = try sharedZone(id) else {
            return [.init("nothing in the zone '\(id.name)' was shared with \(actor.user)")]
        }
        let decisive = try decisiveShare(of: item, in: zone)
        var facts: [Explanation.Fact] = []
        for share in try zone.shares(in: trees) where decisive == nil || share.share == decisive {
            facts.append(try fact(of: share, in: zone))
            guard share.share == decisive, item.list == .deletes, share.root.map({ isSameText($0, item.name) }) ?? false
            else { continue }
            facts.append(.init("the record '\(item.name)' is the root of the share, which only the owner deletes"))
        }
        if decisive == nil { facts.append(.init("the record '\(item.name)' belonged to none of these shares")) }
        return facts
    }

    /// Returns the share of an accepted item that gave the actor the right to it; nil for none.
    func sharingGrant(_ item: Explanation.Item) throws -> Explanation.Fact? {
        guard let id = item.zone, let zone = try sharedZone(id), let number = try decisiveShare(of: item, in: zone),
            let share = try trees.share(number)
        else { return nil }
        return try fact(of: share, in: zone)
    }

    /// Returns the number of the share whose permission decides for an item; nil if no share of the actor does.
    private func decisiveShare(of item: Explanation.Item, in zone: SharedZone) throws -> UInt64? {
        if zone.zonePermission != nil { return zone.current.first?.share }
        if let own = try zone.shares(in: trees).first(where: { isSameText($0.record.name, item.name) }) {
            return own.share
        }
        var number = try trees.hierarchicalShare(of: RecordKey(zone: zone.zone, name: item.name))
        if number == nil, item.list == .saves, case .modifyRecords(let body) = request.content,
            case .set(let parent) = body.saves[item.index].parent
        {
            // A new record belongs to the share of its parent.
            number = try trees.hierarchicalShare(of: RecordKey(zone: zone.zone, name: parent.name))
        }
        return zone.current.first { $0.share == number }?.share
    }

    private func fact(of share: ShareSavedEvent, in zone: SharedZone) throws -> Explanation.Fact {
        let member = zone.memberships.first { $0.share == share.share }
        let covered = share.root.map { "of '\($0)'" } ?? "of the whole zone"
        let permission = member?.permission ?? .none
        return Explanation.Fact(
            "\(actor.user) was \(permission.wordsOfMember) in the share '\(share.record.name)' \(covered)",
            by: member?.changed.offset)
    }

    private func tokenFacts(_ token: String) throws -> [Explanation.Fact] {
        guard let (number, _) = try trees.share(ofToken: token), let share = try trees.share(number) else {
            return [.init("no share had this URL")]
        }
        let text = "the share '\(share.record.name)' was"
        return [
            .init(
                share.publicPermission == .none
                    ? "\(text) not public, and \(actor.user) was not invited" : "\(text) public")
        ]
    }
}

extension SharePermission {
    fileprivate var wordsOfMember: String {
        switch self {
        case .none: "a member without rights"
        case .readOnly: "a member who may only read"
        case .readWrite: "a member who may read and write"
        }
    }
}
