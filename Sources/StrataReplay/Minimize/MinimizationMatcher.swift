import StrataModel
import StrataQuery
import StrataStore
import StrataTree
import StrataViews

/// Tests states of other timelines against a question about a store. Their ordinals are not the store's, so records are
/// translated to the store's ordinals.
final class MinimizationMatcher {
    private let question: BisectionQuestion
    private let context: QueryContext
    private let state: Fork
    private let matcher: BisectionMatcher
    /// The ordinal of the database's owner; 0 for the public database.
    private let owner: UInt64
    private let database: DatabaseID

    /// - Throws: ``Refusal`` for a database, a zone or a type that never existed; ``StrataError`` `invalidArgument` for
    ///   a predicate that cannot be tested.
    init(_ question: BisectionQuestion, in store: Store) throws {
        self.question = question
        let query = Query(question.type, where: question.predicate, zone: question.zone)
        context = try store.historicQueryContext(of: query, in: question.database, as: question.actor)
        matcher = try BisectionMatcher(question.predicate, context)
        state = try store.trees.fork()
        database = try state.requiredDatabase(context.database)
        owner = database.owner.isEmpty ? 0 : try state.ordinal(of: .user(database.owner)) ?? 0
    }

    // MARK: The store

    /// Returns the first record in a state of the store that matches the predicate; nil if none does.
    func witness(in trees: Snapshot) throws -> RecordKey? {
        let zones = try context.zone.map { [$0] } ?? trees.zoneRows(of: context.database).map(\.zone)
        for zone in zones where try trees.zoneRow(context.database, zone)?.status == .alive {
            if let name = question.record {
                let record = RecordKey(zone: zone, name: name)
                let bytes = try trees.withRecord(record) { [UInt8]($0) }
                if try matcher.holds(zone: zone, name: Array(name.utf8), bytes) { return record }
                continue
            }
            var found: RecordKey?
            try trees.forEachRecord(of: zone) { name, state in
                guard try matcher.holds(zone: zone, name: [UInt8](name), state) else { return true }
                found = RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self))
                return false
            }
            if let found { return found }
        }
        return nil
    }

    // MARK: Other timelines

    /// Returns true if one of these records matches the predicate in another timeline.
    func holds(for records: Set<RecordName>, in timeline: AlternateTimeline) throws -> Bool {
        try records.contains { try holds(for: $0, in: timeline) }
    }

    private func holds(for record: RecordName, in timeline: AlternateTimeline) throws -> Bool {
        guard record.isIn(database) else { return false }
        if let wanted = question.record, ExactName(text: wanted) != record.name { return false }
        let zoneName = InternedName.Name.zone(database: context.database, owner: owner, record.zone.text)
        guard let zone = try state.ordinal(of: zoneName), try context.covers(zone: zone) else { return false }
        let names = TimelineNames(old: state, new: timeline.fork)
        guard let there = try names.newZone(zone),
            let bytes = try timeline.state(of: RecordKey(zone: there, name: record.name.text)),
            let translated = try names.translated(bytes)
        else { return false }
        return try matcher.holds(zone: zone, name: Array(record.name.text.utf8), translated)
    }
}

/// Translates ordinals between two timelines by the names they stand for.
private struct TimelineNames {
    let old: Fork
    let new: Fork

    private func oldOrdinal(_ namespace: Namespace, _ ordinal: UInt64) throws -> UInt64? {
        try Self.ordinal(namespace, ordinal, from: new, to: old)
    }

    func newZone(_ zone: UInt64) throws -> UInt64? { try Self.ordinal(.zone, zone, from: old, to: new) }

    /// Returns the ordinal of a name in another timeline; nil if that does not have the name. 0 stands for no name.
    private static func ordinal(
        _ namespace: Namespace, _ ordinal: UInt64, from: Fork, to: Fork
    ) throws -> UInt64? {
        if ordinal == 0 { return 0 }
        guard let name = try from.name(namespace, ordinal) else { return nil }
        switch name {
        case .user, .recordType, .field: return try to.ordinal(of: name)
        case .device: return nil
        case .database(let scope, let owner):
            guard let owner = try Self.ordinal(.user, owner, from: from, to: to) else { return nil }
            return try to.ordinal(of: .database(scope, owner: owner))
        case .zone(let database, let owner, let text):
            guard let database = try Self.ordinal(.database, database, from: from, to: to),
                let owner = try Self.ordinal(.user, owner, from: from, to: to)
            else { return nil }
            return try to.ordinal(of: .zone(database: database, owner: owner, text))
        }
    }

    /// Returns a record's state in the old ordinals; nil if the old timeline does not have its type.
    func translated(_ bytes: [UInt8]) throws -> [UInt8]? {
        var record = try RecordState(decoding: bytes[...])
        guard let type = try oldOrdinal(.recordType, record.header.type) else { return nil }
        record.header.type = type
        record.header.createdBy = try oldOrdinal(.user, record.header.createdBy) ?? 0
        record.header.modifiedBy = try oldOrdinal(.user, record.header.modifiedBy) ?? 0
        record.header.modifiedWith = 0
        record.parent = try record.parent.map(translated)
        record.share = try record.share.map(translated)
        record.fields = try record.fields.compactMap { field in
            guard let ordinal = try oldOrdinal(.field, UInt64(field.field)) else { return nil }
            let value = try field.value.mappingTargets { (try? oldOrdinal(.zone, $0)) ?? 0 }
            return RecordField(UInt32(ordinal), value)
        }
        record.fields.sort { $0.field < $1.field }
        var writer = ByteWriter(reserving: bytes.count + 64)
        try record.encode(into: &writer)
        return writer.bytes
    }

    private func translated(_ key: RecordKey) throws -> RecordKey {
        RecordKey(zone: try oldOrdinal(.zone, key.zone) ?? 0, name: key.name)
    }
}
