import StrataModel

/// An event of a record, decoded as far as its history needs.
package struct TimelineEvent {
    package enum Content {
        case saved(RecordSavedEvent.Change, isFull: Bool, isErased: Bool)
        case deleted(isCascade: Bool)
        case erased(reason: String)
    }

    package let record: RecordKey
    package let type: UInt64
    /// The version before the event; nil if there was no record.
    package let previous: Version?
    package let content: Content
    package let place: EventPlace
    private let body: ArraySlice<UInt8>

    package var version: Version { place.version }
    package var isSave: Bool { if case .saved = content { true } else { false } }
    package var isCreation: Bool { if case .saved(.create, _, _) = content { true } else { false } }

    /// Returns nil for an event that is not of a record.
    ///
    /// - Throws: ``StrataError`` if the event cannot be decoded.
    package init?(
        _ event: Event, at index: Int, in commit: (offset: UInt64, time: Int64), by header: EnvelopeHeader
    ) throws {
        let version = Version(offset: commit.offset, eventIndex: UInt32(index))
        let before: Version?
        switch event.kind {
        case .recordSaved:
            (record, type, content, before) = try event.body.withUnsafeBytes { bytes in
                let start = try RecordEvent(event.kind, bytes)
                let view = try start.saved()
                let content = Content.saved(view.change, isFull: view.isFull, isErased: view.isErased)
                return (try start.key, start.type, content, view.previous)
            }
        case .recordDeleted:
            let deleted = try RecordDeletedEvent(decoding: event.body)
            (record, type, before) = (deleted.record, deleted.type, deleted.previous)
            content = .deleted(isCascade: deleted.isCascade)
        case .recordErased:
            let erased = try RecordErasedEvent(decoding: event.body)
            (record, type, before) = (erased.record, erased.type, erased.previous)
            content = .erased(reason: erased.reason)
        default: return nil
        }
        previous = before?.resolved(in: commit.offset)
        body = event.body
        place = EventPlace(version: version, time: commit.time, user: header.user, device: header.device)
    }

    /// Decodes the save with its values.
    func saved() throws -> RecordSavedEvent { try RecordSavedEvent(decoding: body) }

    /// Returns the state after the event, given the one before it.
    ///
    /// - Throws: ``StrataError`` if it does not fit that state.
    func applied(to state: TimelineState) throws -> TimelineState {
        guard case .saved(_, let isFull, let isErased) = content else { return .none }
        if isErased { return .erased }
        if case .known(let bytes) = state {
            return .known(try bytes.withUnsafeBytes { try merged(onto: $0) })
        }
        if isFull { return .known(try merged(onto: nil)) }
        if case .removed = state { return .removed }
        return .unknown
    }

    private func merged(onto state: UnsafeRawBufferPointer?) throws -> [UInt8] {
        var merger = RecordMerger()
        var writer = ByteWriter(reserving: 512)
        try body.withUnsafeBytes { bytes in
            let view = try RecordSavedView(bytes, in: 0..<bytes.count)
            try merger.apply(view, at: place, to: state, startsHere: state == nil, into: &writer)
        }
        return writer.bytes
    }
}

/// The known state of a record between two of its events.
package enum TimelineState {
    /// There is no record.
    case none
    /// The encoded state, as docs/format.md §17 defines it.
    case known([UInt8])
    /// The values were erased later.
    case erased
    /// The state was removed by compaction.
    case removed
    /// The state is not in the log, or cannot be read.
    case unknown

    /// Returns nil unless the state is known.
    package func decoded() throws -> RecordState? {
        guard case .known(let bytes) = self else { return nil }
        return try RecordState(decoding: bytes[...])
    }
}
