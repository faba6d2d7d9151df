import StrataModel

/// An event of a record, decoded as far as its history needs.
struct RecordTimelineEvent {
    enum Content {
        case saved(RecordSavedEvent.Change, isFull: Bool, isErased: Bool)
        case deleted(isCascade: Bool)
        case erased(reason: String)
    }

    let record: RecordKey
    let type: UInt64
    /// The version before the event; nil if there was no record.
    let previous: Version?
    let content: Content
    let place: EventPlace
    private let body: ArraySlice<UInt8>

    var version: Version { place.version }

    /// Returns nil for an event that is not of a record.
    ///
    /// - Throws: ``StrataError`` if the event cannot be decoded.
    init?(_ event: Event, at index: Int, in commit: (offset: UInt64, time: Int64), by header: EnvelopeHeader) throws {
        let version = Version(offset: commit.offset, eventIndex: UInt32(index))
        let before: Version?
        switch event.kind {
        case .recordSaved:
            let place = try EventDetail.Place(event)
            (record, type) = (RecordKey(zone: place.zone, name: place.name), place.type)
            (content, before) = try event.body.withUnsafeBytes { bytes -> (Content, Version?) in
                let view = try RecordSavedView(bytes, in: 0..<bytes.count)
                return (.saved(view.change, isFull: view.isFull, isErased: view.isErased), view.previous)
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

    /// True if the event contains the complete record.
    var isFull: Bool {
        if case .saved(_, let isFull, _) = content { isFull } else { false }
    }

    /// Decodes the save with its values.
    func saved() throws -> RecordSavedEvent { try RecordSavedEvent(decoding: body) }

    /// Applies the event to the state before it.
    ///
    /// - Throws: ``StrataError`` if it does not fit that state.
    func applied(to state: RecordTimelineState) throws -> RecordTimelineState {
        guard case .saved(_, let isFull, let isErased) = content else { return .none }
        if isErased { return .erased }
        if case .known(let bytes) = state {
            return .known(try bytes.withUnsafeBytes { try merged(onto: $0) })
        }
        return isFull ? .known(try merged(onto: nil)) : .unknown
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
enum RecordTimelineState {
    /// There is no record.
    case none
    /// The encoded state, as docs/format.md §17 defines it.
    case known([UInt8])
    /// The values were erased later.
    case erased
    /// The state is no longer in the log, or cannot be read.
    case unknown

    /// Returns nil unless the state is known.
    func decoded() throws -> RecordState? {
        guard case .known(let bytes) = self else { return nil }
        return try RecordState(decoding: bytes[...])
    }
}
