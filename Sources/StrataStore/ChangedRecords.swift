import StrataLog
import StrataModel
import StrataViews

/// The records that commits touched, each with the version that it had in front of them and the one behind them.
struct ChangedRecords {
    /// Beyond this it is cheaper to fold both states: each older version is looked for in the sealed log, which takes
    /// some hundred microseconds (Benchmarks/RESULTS.md).
    static let maximumCommits: UInt64 = 500

    struct Change {
        let record: RecordKey
        let type: UInt64
        /// Nil where the record was not there.
        let before: Version?
        var after: Version?
    }

    /// In the order of the records' keys.
    let all: [Change]

    /// Nil if it takes more than the commits to tell: too many, or records went with their zone or lost what they held.
    init?(_ log: any EventLog, behind first: UInt64, through last: UInt64) throws {
        guard last - first <= Self.maximumCommits else { return nil }
        var changes: [[UInt8]: Change] = [:]
        var cursor = try log.read(from: first + 1)
        while let commit = try cursor.next(), commit.offset <= last {
            let isTold = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                    switch event.kind {
                    case .recordSaved:
                        guard try Self.add(payload, event.body, at: version, to: &changes) else { return false }
                    case .recordDeleted:
                        let deleted = try RecordDeletedEvent(
                            decoding: ArraySlice(UnsafeRawBufferPointer(rebasing: payload[event.body])))
                        Self.add(
                            Change(record: deleted.record, type: deleted.type, before: deleted.previous, after: nil),
                            to: &changes)
                    case .recordErased, .zoneDeleted: return false
                    default: continue
                    }
                }
                return true
            }
            guard isTold else { return nil }
        }
        all = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
            .filter { $0.before != nil || $0.after != nil }
    }

    /// False for a save of which there is only a part left.
    private static func add(
        _ payload: UnsafeRawBufferPointer, _ body: Range<Int>, at version: Version,
        to changes: inout [[UInt8]: Change]
    ) throws -> Bool {
        let saved = try RecordSavedView(payload, in: body)
        guard !saved.isErased else { return false }
        let name = String(decoding: payload[saved.name], as: UTF8.self)
        add(
            Change(
                record: RecordKey(zone: saved.zone, name: name), type: saved.type,
                before: saved.change == .create ? nil : saved.previous, after: version),
            to: &changes)
        return true
    }

    private static func add(_ change: Change, to changes: inout [[UInt8]: Change]) {
        let key = RecordKey.viewKey(zone: change.record.zone, name: Array(change.record.name.utf8))
        if changes[key] == nil { changes[key] = change } else { changes[key]?.after = change.after }
    }
}

extension StoreSnapshot {
    /// Calls `body` with each record that is not the same at two offsets up to that of the snapshot, in the order of
    /// ``forEachDifference(since:in:_:)``, until it returns false; from the commits between them alone.
    ///
    /// - Returns: false, before anything was given, if the commits do not tell it, or are so many that folding both
    ///   states costs less.
    package func forEachDifference(
        from first: UInt64, to last: UInt64, _ body: (RecordDifference) throws -> Bool
    ) throws -> Bool {
        try gate.requireOpen()
        guard let changes = try context.history.changes(behind: first, through: last) else { return false }
        var known: (zone: UInt64, origin: RecordOrigin)?
        for change in changes.all {
            let zone = change.record.zone
            let origin = try known.flatMap { $0.zone == zone ? $0.origin : nil } ?? origin(ofZone: zone)
            known = (zone, origin)
            func record(_ version: Version?) throws -> Record? {
                guard let version else { return nil }
                guard let state = try context.history.state(of: change.record, at: version, trees) else {
                    throw StrataError(
                        .malformed, "The log does not have a version that a commit names.",
                        .init(offset: version.offset, found: version.tag))
                }
                return try Record(change.record.name, state, origin)
            }
            let difference = RecordDifference(
                RecordID(change.record.name, zone: origin.zone), in: origin.database,
                before: try record(change.before), after: try record(change.after))
            guard try body(difference) else { break }
        }
        return true
    }

    private func origin(ofZone ordinal: UInt64) throws -> RecordOrigin {
        let (database, zone) = try zoneName(ordinal)
        return RecordOrigin(database, zone, trees, context, desiredKeys: nil)
    }
}
