/// The position of an event in the log and its originator: the context in which the event's body is applied.
package struct EventPlace: Sendable, Hashable {
    package var version: Version
    /// The time of the commit.
    package var time: Int64
    package var user: UInt64
    package var device: UInt64

    package init(version: Version, time: Int64, user: UInt64, device: UInt64 = 0) {
        self.version = version
        self.time = time
        self.user = user
        self.device = device
    }
}

/// Creates the next encoded state of a record from the previous state and an event, without decoding values.
///
/// The digest of the new state's content is 0 until `RecordStateView.setDigest` sets it.
///
/// ```swift
/// var merger = RecordMerger()
/// try merger.apply(event, at: place, to: stateBytes, into: &writer)
/// ```
package struct RecordMerger: Sendable {
    private var builder = FieldTableBuilder()
    /// The only fields to include in the states; nil for all.
    package var keptFields: [UInt32]?

    package init() {}

    /// - Parameters:
    ///   - state: The encoded state of the previous version; nil if there is none, or the record was deleted.
    ///   - startsHere: True to accept a full event whatever came before it.
    /// - Throws: ``StrataError`` if the event does not fit the state, or one of them is malformed.
    package mutating func apply(
        _ event: RecordSavedView, at place: EventPlace, to state: UnsafeRawBufferPointer?, startsHere: Bool = false,
        into writer: inout ByteWriter
    ) throws {
        let old = try state.map { try RecordStateView($0, in: 0..<$0.count) }
        guard event.change == .create ? old == nil : event.isFull || old != nil else {
            throw StrataError(.malformed, "A record is created twice, or changed before it is created.")
        }
        if let old, event.previous?.resolved(in: place.version.offset) != old.version {
            throw StrataError(
                .brokenSequence, "A save does not follow the record's current version.",
                .init(expected: old.version.tag, found: event.previous?.tag ?? "none"))
        }
        let rest = try event.rest()
        // In a base, a full event replaces all events before it.
        guard old != nil || event.change == .create || rest.original != nil || startsHere && event.isFull else {
            throw StrataError(
                .brokenSequence, "A save changes a record that does not exist.",
                .init(expected: "a creation", found: "\(event.change)"))
        }
        let oldHeader = try old?.header()
        try old?.require(name: UnsafeRawBufferPointer(rebasing: event.bytes[event.name]))
        try old?.require(type: event.type)
        let start = writer.append(try Self.header(of: event, rest, at: place, after: oldHeader))
        let links = event.isFull ? nil : try old?.links()
        let isParentLoose = rest.parent == nil ? links?.isParentLoose == true : rest.isParentLoose
        if !isParentLoose {
            Self.appendLink(StateField.parent, rest.parent, of: event, or: links?.parent, of: old, into: &writer)
        }
        Self.appendLink(StateField.share, rest.share, of: event, or: links?.share, of: old, into: &writer)
        if event.name.count > RecordState.longestKeyName {
            writer.appendField(StateField.longName, raw: UnsafeRawBufferPointer(rebasing: event.bytes[event.name]))
        }
        if isParentLoose {
            Self.appendLink(StateField.looseParent, rest.parent, of: event, or: links?.parent, of: old, into: &writer)
        }
        writer.finishHeader(from: start)
        builder.removeAll()
        if let old, !event.isFull {
            try merge(try event.fields, onto: try old.fields())
        } else if keptFields == nil {
            return try Self.copy(try event.fields, into: &writer)
        } else {
            let sent = try event.fields
            for index in 0..<sent.count { try append(sent, index, maySkip: false) }
        }
        builder.finish(into: &writer)
    }

    private static func header(
        of event: RecordSavedView, _ rest: RecordSavedView.Rest, at place: EventPlace, after old: RecordHeader?
    ) throws -> RecordHeader {
        let kept = event.change == .touch ? old : nil
        let modified = rest.modified ?? kept?.modified ?? place.time
        let modifiedBy = rest.modifiedBy ?? kept?.modifiedBy ?? place.user
        // A base states a record as the log left it.
        let isStated = rest.original != nil
        let since = isStated ? rest.eventsSinceFull ?? 0 : event.isFull ? 0 : (old?.eventsSinceFull ?? 0) + 1
        guard since <= RecordHeader.maximumEventsSinceFull else {
            throw StrataError(
                .malformed, "A record has too many events since its last full event.",
                .init(expected: "at most \(RecordHeader.maximumEventsSinceFull)", found: "\(since)"))
        }
        return RecordHeader(
            version: rest.original ?? place.version, type: event.type,
            created: rest.created ?? old?.created ?? modified,
            createdBy: rest.createdBy ?? old?.createdBy ?? modifiedBy, modified: modified, modifiedBy: modifiedBy,
            modifiedWith: rest.modifiedWith ?? kept?.modifiedWith ?? place.device, eventsSinceFull: since)
    }

    private static func appendLink(
        _ key: UInt64, _ change: Range<Int>?, of event: RecordSavedView, or kept: Range<Int>?, of old: RecordStateView?,
        into writer: inout ByteWriter
    ) {
        let source = change == nil ? old?.bytes : event.bytes
        guard let source, let range = change ?? kept, !range.isEmpty else { return }
        writer.appendField(key, raw: UnsafeRawBufferPointer(rebasing: source[range]))
    }

    /// Copies a table without removed keys, which has the same encoding in a state.
    private static func copy(_ table: FieldTable, into writer: inout ByteWriter) throws {
        for index in 0..<table.count {
            try table.checkOrder(at: index)
            let range = try table.range(at: index)
            if range.isEmpty { throw removedKey(table, range.lowerBound) }
        }
        writer.append(raw: UnsafeRawBufferPointer(rebasing: table.bytes[table.start..<table.end]))
    }

    private static func removedKey(_ table: FieldTable, _ position: Int) -> StrataError {
        ByteReader(table.bytes, at: position).malformed("a record's state", expected: "without removed keys")
    }

    private mutating func append(_ table: FieldTable, _ index: Int, maySkip: Bool) throws {
        try table.checkOrder(at: index)
        if let keptFields, !keptFields.contains(table.ordinal(at: index)) { return }
        let range = try table.range(at: index)
        guard !range.isEmpty else {
            if maySkip { return }
            throw Self.removedKey(table, range.lowerBound)
        }
        try builder.append(
            table.ordinal(at: index), encoded: UnsafeRawBufferPointer(rebasing: table.bytes[range]))
    }

    private mutating func merge(_ sent: FieldTable, onto kept: FieldTable) throws {
        var (new, old) = (0, 0)
        while new < sent.count || old < kept.count {
            let takesNew = old == kept.count || new < sent.count && sent.ordinal(at: new) <= kept.ordinal(at: old)
            guard takesNew else {
                try append(kept, old, maySkip: false)
                old += 1
                continue
            }
            if old < kept.count, kept.ordinal(at: old) == sent.ordinal(at: new) { old += 1 }
            try append(sent, new, maySkip: true)
            new += 1
        }
    }
}
