import StrataModel
import StrataTree

extension ViewTree {
    package static let sharedRecords = TreeID(rawValue: 24)
}

/// The records that belong or once belonged to hierarchical shares: zone, name, number of the share → event by which
/// the record last changed there.
enum SharedRecordsMaintainer: EventRowMaintainer {
    typealias Body = SharedRecordEvent

    static let tree = ViewTree.sharedRecords
    static let name = "shared records"
    /// Digests must not cost a row for each record.
    static let hasDigests = false

    static func key(of event: Body) -> [UInt8] {
        var key = ViewKeys.sharedRecord(event.record)
        key.append(number: event.share)
        return key.bytes
    }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        // Throws if an ordinal has no name.
        _ = try fold.records.names.hash(.zone, event.record.zone, in: fold.fork)
        _ = try fold.records.names.hash(.recordType, event.type, in: fold.fork)
        return nil
    }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        let key = key(of: event)
        if let before = try fold.fork.version(in: tree, key: key) {
            try ShareChangesMaintainer.remove(event.share, at: before, from: fold.fork)
        }
        try put(event, body, under: key, at: place, in: fold)
        try ShareChangesMaintainer.add(event, body, at: event.original ?? place.version, to: fold.fork)
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let zone = words.zone(try reader.readNumber())
        let name = try words.text(packed: try reader.readText())
        return "record \(name) of \(zone) in share \(try reader.readNumber())"
    }
}

extension Fold {
    /// Removes the shared records of a zone that ends.
    func removeSharedRecords(of zone: UInt64) throws {
        if fork.isEmpty(ViewTree.sharedRecords) { return }
        var shares: Set<UInt64> = []
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            try fork.scan(ViewTree.sharedRecords, from: lower, to: upper) { key, _ in
                var reader = KeyReader(key)
                _ = try reader.readNumber()
                try reader.skipText()
                shares.insert(try reader.readNumber())
                return true
            }
            try fork.deleteRange(ViewTree.sharedRecords, from: lower, to: upper)
        }
        for share in shares.sorted() {
            try ViewKeys.withBounds(ofNumber: share) { try fork.deleteRange(ViewTree.shareChanges, from: $0, to: $1) }
        }
    }
}

extension ViewKeys {
    /// The bytes of a key in ``ViewTree/sharedRecords`` in addition to those of a record's key, without escapes.
    static let sharedRecordTail = 10

    /// Returns the common prefix of the keys of a record in ``ViewTree/sharedRecords``.
    static func sharedRecord(_ record: RecordKey) -> KeyWriter {
        var key = KeyWriter(reserving: record.name.utf8.count + 2 * sharedRecordTail)
        key.append(number: record.zone)
        key.append(recordName: record.name)
        return key
    }
}

extension TreeReading {
    /// Returns true if records of a zone belong or once belonged to hierarchical shares.
    package func hasSharedRecords(in zone: UInt64) throws -> Bool {
        var isFound = false
        try forEachSharedRecord(in: zone) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// Calls `body` with each record of a zone that belongs or once belonged to hierarchical shares, until it returns
    /// false.
    package func forEachSharedRecord(in zone: UInt64, _ body: (SharedRecordEvent) throws -> Bool) throws {
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            try scan(ViewTree.sharedRecords, from: lower, to: upper) { try body(RowLayout.event(in: $1)) }
        }
    }

    /// Returns the number of the hierarchical share that a record belongs to; nil if it belongs to none.
    package func hierarchicalShare(of record: RecordKey) throws -> UInt64? {
        try hierarchicalShare(under: ViewKeys.sharedRecord(record))
    }

    /// Like ``hierarchicalShare(of:)``, for the key of a record in ``ViewTree/records``.
    package func hierarchicalShare(ofRecordAt key: UnsafeRawBufferPointer) throws -> UInt64? {
        var reader = KeyReader(key)
        var prefix = KeyWriter(reserving: key.count + ViewKeys.sharedRecordTail)
        prefix.append(number: try reader.readNumber())
        // Both keys hold the name in the same form.
        prefix.append(text: try reader.readLastText())
        return try hierarchicalShare(under: prefix)
    }

    private func hierarchicalShare(under prefix: consuming KeyWriter) throws -> UInt64? {
        var share: UInt64?
        prefix.append(byte: 0xFF)
        try prefix.bytes.withUnsafeBytes { upper in
            let lower = UnsafeRawBufferPointer(rebasing: upper.dropLast())
            try scan(ViewTree.sharedRecords, from: lower, to: upper) { _, row in
                var body = ByteReader(row, at: RowLayout.body)
                share = try SharedRecordEvent.share(from: &body)
                return share == nil
            }
        }
        return share
    }
}

extension Snapshot {
    /// Calls `body` with the number of the hierarchical share that each of some records belongs to, in order; with nil
    /// for a record that belongs to none.
    ///
    /// - Parameter keys: keys in ``ViewTree/records``.
    package func forEachHierarchicalShare(
        ofRecordsAt keys: KeyList, _ body: (_ index: Int, _ share: UInt64?) throws -> Void
    ) throws {
        var prefixes = KeyList()
        var prefix = KeyWriter()
        for index in keys.indices {
            try keys.withKey(index) { key in
                var reader = KeyReader(key)
                prefix.removeAll()
                prefix.append(number: try reader.readNumber())
                prefix.append(text: try reader.readLastText())
                prefixes.append(prefix.bytes)
            }
        }
        try forEachFirst(ViewTree.sharedRecords, prefixes) { index, entry in
            switch entry {
            case .none: return try body(index, nil)
            case .value(let row):
                var event = ByteReader(row, at: RowLayout.body)
                if let share = try SharedRecordEvent.share(from: &event) { return try body(index, share) }
            case .elsewhere: break
            }
            // The record has left a share, and may belong to another.
            try body(index, try keys.withKey(index) { try hierarchicalShare(ofRecordAt: $0) })
        }
    }
}
