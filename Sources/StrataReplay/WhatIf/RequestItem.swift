import StrataModel

/// A save or a delete of a request, or a share to join.
package struct RequestItem {
    package let list: RequestShape.List
    package let index: Int
    /// The ordinal of a record's zone, or of the zone itself; nil for other items.
    package let zone: UInt64?
    /// The name of a record, the ID of a subscription, or words for a share, whose URL is secret; nil for a zone.
    package let name: String?
}

extension Request {
    /// The numbers of saves, or of shares to join, and of deletes; nil for a request without items.
    var itemCounts: (saves: Int, deletes: Int)? {
        switch content {
        case .modifyRecords(let body): (body.saves.count, body.deletes.count)
        case .modifyZones(let body): (body.saves.count, body.deletes.count)
        case .modifySubscriptions(let body): (body.saves.count, body.deletes.count)
        case .joinShares(let body): (body.tokens.count, 0)
        case .administer, .declareSchema, .notify: nil
        }
    }

    /// The items of the request, saves first.
    package var items: [RequestItem] {
        guard let counts = itemCounts else { return [] }
        return (0..<counts.saves).compactMap { item(.saves, $0) }
            + (0..<counts.deletes).compactMap { item(.deletes, $0) }
    }

    /// Returns nil for an item that the request does not have.
    package func item(_ list: RequestShape.List, _ index: Int) -> RequestItem? {
        func item<Element>(_ items: [Element], _ target: (Element) -> (zone: UInt64?, name: String?)) -> RequestItem? {
            guard items.indices.contains(index) else { return nil }
            let (zone, name) = target(items[index])
            return RequestItem(list: list, index: index, zone: zone, name: name)
        }
        return switch (content, list) {
        case (.modifyRecords(let body), .saves): item(body.saves) { ($0.record.zone, $0.record.name) }
        case (.modifyRecords(let body), .deletes): item(body.deletes) { ($0.zone, $0.name) }
        case (.modifyZones(let body), .saves): item(body.saves) { ($0.zone, nil) }
        case (.modifyZones(let body), .deletes): item(body.deletes) { ($0, nil) }
        case (.modifySubscriptions(let body), .saves): item(body.saves) { (nil, $0.id) }
        case (.modifySubscriptions(let body), .deletes): item(body.deletes) { (nil, $0) }
        case (.joinShares(let body), .saves): item(body.tokens) { _ in (nil, "share of a URL") }
        default: nil
        }
    }

    /// Returns true if the request saves or deletes a record or a zone that has each of the names that are given. A
    /// delete has no type and no fields.
    package func hasItem(zone: String?, record: String?, type: String?, field: String? = nil) -> Bool {
        func isWanted(_ name: String?, _ wanted: String?) -> Bool {
            wanted.map { wanted in name.map { isSameText($0, wanted) } ?? false } ?? true
        }
        func isInZone(_ ordinal: UInt64) -> Bool { isWanted(names.zone(ordinal)?.name, zone) }
        switch content {
        case .modifyRecords(let body):
            let hasSave = body.saves.contains { save in
                isInZone(save.record.zone) && isWanted(names.recordType(save.type), type)
                    && isWanted(save.record.name, record)
                    && (field == nil || save.fields.contains { isWanted(names.key($0.field), field) })
            }
            if hasSave || type != nil || field != nil { return hasSave }
            return body.deletes.contains { isInZone($0.zone) && isWanted($0.name, record) }
        case .modifyZones(let body):
            guard type == nil, field == nil, record == nil else { return false }
            return (body.saves.map(\.zone) + body.deletes).contains(where: isInZone)
        default: return false
        }
    }
}
