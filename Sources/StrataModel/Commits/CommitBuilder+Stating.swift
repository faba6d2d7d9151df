extension CommitBuilder {
    /// Appends the event by which a base states a record, under its current version. Returns the index of the first
    /// entry that is left for the next event.
    ///
    /// A record that is too large for one event is stated by several: the first is full, and each of the others adds
    /// fields to the same version.
    ///
    /// ```swift
    /// let end = try commit.append(stating: state, RecordKey(zone: zone, name: name), from: 0, atMost: 32 << 20)
    /// ```
    /// - Parameters:
    ///   - start: The first entry of the state's table to include; 0 for the record's first event.
    ///   - limit: The maximum bytes of values in an event; a single value may exceed it.
    package mutating func append(
        stating state: RecordStateView, _ record: RecordKey, from start: Int, atMost limit: Int
    ) throws -> Int {
        let table = try state.fields()
        let event = try RecordSavedEvent(stating: state, record, isFirst: start == 0)
        if start == 0, table.end - table.start <= limit {
            try append(RecordSavedEvent.kind) { writer in
                try event.encodeFront(into: &writer)
                // A full event has the same table as the state.
                writer.append(raw: UnsafeRawBufferPointer(rebasing: table.bytes[table.start..<table.end]))
            }
            return table.count
        }
        var builder = FieldTableBuilder()
        var end = start
        var byteCount = 0
        while end < table.count {
            let range = try table.range(at: end)
            guard end == start || byteCount + range.count <= limit else { break }
            try builder.append(table.ordinal(at: end), encoded: UnsafeRawBufferPointer(rebasing: table.bytes[range]))
            byteCount += range.count
            end += 1
        }
        try append(RecordSavedEvent.kind) { writer in
            try event.encodeFront(into: &writer)
            builder.finish(into: &writer)
        }
        return end
    }
}

extension RecordSavedEvent {
    /// Creates the event without its fields.
    fileprivate init(stating state: RecordStateView, _ record: RecordKey, isFirst: Bool) throws {
        let header = try state.header()
        self.init(.update, record, type: header.type, previous: isFirst ? nil : header.version)
        original = header.version
        eventsSinceFull = header.eventsSinceFull
        (modified, modifiedBy, modifiedWith) = (header.modified, header.modifiedBy, header.modifiedWith)
        guard isFirst else { return }
        isFull = true
        (created, createdBy) = (header.created, header.createdBy)
        let links = try state.links()
        if let parent = links.parent {
            self.parent = .set(try state.key(parent))
            isParentLoose = links.isParentLoose
        }
        if let share = links.share { self.share = .set(try state.key(share)) }
    }
}
