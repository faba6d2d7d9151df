extension RecordSavedEvent: EventBody {
    package static let kind = EventKind.recordSaved
    /// None: tools show a save without decoding its values.
    package static let shownFields = ShownFields<Self> {}

    package func encode(into writer: inout ByteWriter) throws {
        var builder = FieldTableBuilder()
        try encode(into: &writer, with: &builder)
    }

    /// Appends the body, using the memory of a builder that is empty before and after.
    ///
    /// - Parameter ordinals: the ordinals of the fields that the event numbers from 1; nil if it has ordinals.
    package func encode(
        into writer: inout ByteWriter, with builder: inout FieldTableBuilder, of ordinals: [UInt32]? = nil
    ) throws {
        try encodeFront(into: &writer)
        builder.removeAll()
        try builder.append(fields, of: ordinals)
        builder.finish(into: &writer)
    }

    /// Appends everything before the field table.
    func encodeFront(into writer: inout ByteWriter) throws {
        try check()
        try writer.appendRecordStart(record, type: type)
        let baseCode: UInt8 = base == nil ? 0 : base == previous ? 1 : 2
        let erasedFlag = isErased ? RecordSavedView.erasedFlag : 0
        writer.append(
            byte: change.rawValue | policy.rawValue << 2 | (isFull ? 16 : 0) | baseCode << 5 | erasedFlag)
        writer.appendVersion(previous)
        if baseCode == 2 { writer.appendVersion(base) }
        try writer.appendMeasured { writer in
            writer.appendField(SavedField.original, original?.packed ?? 0)
            writer.appendField(SavedField.modified, time: modified)
            writer.appendField(SavedField.modifiedBy, number: modifiedBy)
            writer.appendField(SavedField.modifiedWith, number: modifiedWith)
            writer.appendField(SavedField.created, time: created)
            writer.appendField(SavedField.createdBy, number: createdBy)
            if !isParentLoose { try writer.appendField(SavedField.parent, parent) }
            try writer.appendField(SavedField.share, share)
            writer.appendField(SavedField.eventsSinceFull, UInt64(eventsSinceFull))
            if isParentLoose { try writer.appendField(SavedField.looseParent, parent) }
        }
    }

    private var hasRemovals: Bool {
        parent == .removed || share == .removed || fields.hasRemovals
    }

    private func check() throws {
        let isComplete = change == .create || !isFull || created != nil && createdBy != nil
        guard change != .create || isFull, isComplete, !isFull || !hasRemovals else {
            throw StrataError(
                .invalidArgument,
                "An event that creates a record must be full, and a full event must be complete and without removals.")
        }
        if isParentLoose, case .set = parent {
        } else if isParentLoose {
            throw StrataError(.invalidArgument, "Only a parent that the event sets can be loose.")
        }
        let mostEvents = original == nil ? 0 : RecordHeader.maximumEventsSinceFull
        guard (0...mostEvents).contains(eventsSinceFull) else {
            throw StrataError.tooLarge(
                "the events since the last full one", limit: mostEvents, found: eventsSinceFull)
        }
    }

    package init(from reader: inout ByteReader) throws {
        let range = reader.position..<reader.position + reader.remaining
        self = try RecordSavedView(reader.bytes, in: range).decoded()
        reader.position = range.upperBound
    }
}

extension ByteWriter {
    /// Appends a number that has no default value.
    mutating func appendField(_ key: UInt64, number: UInt64?) {
        guard let number else { return }
        appendVarint(key)
        appendVarint(UInt64(Self.varintBytes(number)))
        appendVarint(number)
    }

    mutating func appendField(_ key: UInt64, _ change: LinkChange) throws {
        switch change {
        case .kept: return
        case .removed: appendField(key, bytes: [])
        case .set(let record): try appendField(key) { try $0.append(record) }
        }
    }
}
