import StrataModel
import StrataQuery
import StrataViews

@testable import StrataStore

/// All records of a database, decoded: what a query means, with no thought of speed (B129, B139).
struct PlainRecords {
    struct PlainRecord {
        var id: RecordID
        var zone: Int
        var type: String
        var values: [String: FieldValue]
        var created: Int64
        var modified: Int64
        var createdBy: String
        var modifiedBy: String
        var parent: String?
    }

    private(set) var records: [PlainRecord] = []
    private var places: [RecordID: Int] = [:]
    /// The names of the records of the users who made or changed records.
    fileprivate var userRecordNames: [String: String] = [:]

    /// - Parameter zones: in the order in which they were made.
    init(_ ids: [RecordID], _ client: Client, _ zones: [String]) throws {
        for id in ids {
            let record = try client.store.snapshot().record(id, in: client.database, as: client.actor)
            places[id] = records.count
            for user in try [record.createdBy, record.modifiedBy] where userRecordNames[user] == nil {
                userRecordNames[user] = client.store.recordName(of: user)
            }
            records.append(
                PlainRecord(
                    id: id, zone: zones.firstIndex(of: id.zone.name) ?? 0, type: try record.type,
                    values: try record.fields, created: record.created, modified: record.modified,
                    createdBy: try record.createdBy, modifiedBy: try record.modifiedBy, parent: try record.parent))
        }
    }

    /// In order; the caller sorts where the query has none.
    func answer(_ query: Query) -> [RecordID] {
        let found = records.filter { record in
            guard record.type == query.recordType, query.zone == nil || query.zone?.name == record.id.zone.name else {
                return false
            }
            let subject = PlainSubject(record: record, all: self)
            // The regular expressions here take few steps.
            return (try? PredicateEvaluator(subject: subject, now: 0).holds(query.predicate)) ?? false
        }
        return found.sorted { isBefore($0, $1, query.order) }.map(\.id)
    }

    private func isBefore(_ a: PlainRecord, _ b: PlainRecord, _ order: [SortKey]) -> Bool {
        for key in order {
            let (first, second): (FieldValue?, FieldValue?)
            var isAscending = true
            switch key {
            case .key(let name, let ascending):
                isAscending = ascending
                (first, second) = (a.sortValue(name), b.sortValue(name))
            case .distance(let name, let latitude, let longitude):
                func metres(_ record: PlainRecord) -> FieldValue? {
                    guard case .location(let place)? = record.values[name] else { return nil }
                    return .double(
                        GreatCircle.distanceMetres(
                            fromLatitude: place.latitude, longitude: place.longitude, toLatitude: latitude,
                            longitude: longitude))
                }
                (first, second) = (metres(a), metres(b))
            }
            let difference = Self.compare(first, second)
            if difference != 0 { return (difference < 0) == isAscending }
        }
        let (left, right) = (Array(a.id.name.unicodeScalars), Array(b.id.name.unicodeScalars))
        if left != right { return left.lexicographicallyPrecedes(right) }
        return a.zone < b.zone
    }

    private static func compare(_ a: FieldValue?, _ b: FieldValue?) -> Int {
        switch (a, b) {
        case (nil, nil): return 0
        case (nil, _): return -1
        case (_, nil): return 1
        case (.int64(let a)?, .int64(let b)?): return a < b ? -1 : a > b ? 1 : 0
        case (.double(let a)?, .double(let b)?), (.date(let a)?, .date(let b)?):
            if a.isNaN || b.isNaN { return a.isNaN && b.isNaN ? 0 : a.isNaN ? 1 : -1 }
            return a < b ? -1 : a > b ? 1 : 0
        case (.string(let a)?, .string(let b)?):
            let (a, b) = (Array(a.unicodeScalars), Array(b.unicodeScalars))
            return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        case (.data(let a)?, .data(let b)?): return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        default: return 0
        }
    }

    fileprivate func record(_ name: String, in zone: ZoneID) -> PlainRecord? {
        places[RecordID(name, zone: zone)].map { records[$0] }
    }
}

extension PlainRecords.PlainRecord {
    fileprivate func sortValue(_ key: String) -> FieldValue? {
        switch key {
        case "creationDate", "___createTime": .int64(created)
        case "modificationDate", "___modTime": .int64(modified)
        default: values[key]
        }
    }
}

private struct PlainSubject: PredicateSubject {
    let record: PlainRecords.PlainRecord
    let all: PlainRecords

    var searchedTexts: [String] {
        QueryWorld.fields.filter { $0.kind == .string }.compactMap { field in
            if case .string(let text)? = record.values[field.name] { text } else { nil }
        }
    }

    func predicateValue(forKey key: String) -> PredicateValue? {
        let names = key.split(separator: ".").map(String.init)
        guard let first = names.first else { return nil }
        let rest = names.dropFirst().joined(separator: ".")
        if rest.isEmpty { return value(first) }
        if first == "parent" || first == "___parent" {
            return record.parent.flatMap { all.record($0, in: record.id.zone) }.flatMap { follow($0, rest) }
        }
        switch record.values[first] {
        case .reference(let reference)?:
            return all.record(reference.target.name, in: record.id.zone).flatMap { follow($0, rest) }
        case .list(let list)?:
            guard QueryWorld.fields.first(where: { $0.name == first })?.kind.element == .reference else { return nil }
            return .list(
                list.elements.compactMap { element in
                    guard case .reference(let reference) = element else { return nil }
                    return all.record(reference.target.name, in: record.id.zone).flatMap { follow($0, rest) }
                })
        default: return nil
        }
    }

    private func follow(_ target: PlainRecords.PlainRecord, _ path: String) -> PredicateValue? {
        PlainSubject(record: target, all: all).predicateValue(forKey: path)
    }

    private func value(_ key: String) -> PredicateValue? {
        switch key {
        case "recordID", "___recordID": Self.reference(record.id.name, record.id.zone.name)
        case "creationDate", "___createTime": .date(Double(record.created) / 1_000_000 - 978_307_200)
        case "modificationDate", "___modTime": .date(Double(record.modified) / 1_000_000 - 978_307_200)
        case "creatorUserRecordID", "___createdBy": user(record.createdBy)
        case "lastModifiedUserRecordID", "___modifiedBy": user(record.modifiedBy)
        case "parent", "___parent": record.parent.map { Self.reference($0, record.id.zone.name) }
        default: record.values[key].map(converted)
        }
    }

    private func user(_ name: String) -> PredicateValue? {
        name.isEmpty ? nil : Self.reference(all.userRecordNames[name] ?? "", "_defaultZone")
    }

    static func reference(_ name: String, _ zone: String) -> PredicateValue {
        .reference(.init(recordName: name, zoneName: zone, ownerName: "__defaultOwner__"))
    }

    private func converted(_ value: FieldValue) -> PredicateValue {
        switch value {
        case .string(let text): .string(text)
        case .int64(let number): .int64(number)
        case .double(let number): .double(number)
        case .date(let seconds): .date(seconds)
        case .data(let bytes): .data(bytes)
        case .location(let place): .location(latitude: place.latitude, longitude: place.longitude)
        case .reference(let reference): Self.reference(reference.target.name, record.id.zone.name)
        case .list(let list): .list(list.elements.map(converted))
        case .asset, .sealed: .opaque
        }
    }
}
