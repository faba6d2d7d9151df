/// Goes through the events of a payload without copying them: what a fold does with every commit.
///
/// ```swift
/// var walker = try EventWalker(payload)
/// let user = try walker.header().user
/// while let event = try walker.next() where event.kind == .recordSaved {
///     try merger.apply(try RecordSavedView(payload, in: event.body), at: place, to: state, into: &writer)
/// }
/// ```
public struct EventWalker {
    // Valid only inside the `withUnsafeBytes` that made it.
    private let payload: UnsafeRawBufferPointer
    private var walker: EnvelopeWalker

    /// `payload` must stay alive as long as the walker is used.
    public init(_ payload: UnsafeRawBufferPointer) throws {
        self.payload = payload
        walker = try EnvelopeWalker(payload)
    }

    public var eventCount: Int { walker.eventCount }

    /// How many events `next` has given, which is the index of the one that it gives next.
    public var eventIndex: Int { walker.eventIndex }

    public func header() throws -> EnvelopeHeader {
        try EnvelopeHeader(decoding: ByteReader(payload, in: walker.headerRange))
    }

    /// The next event, with the place of its body in the payload; nil behind the last.
    public mutating func next() throws -> (kind: EventKind, body: Range<Int>)? {
        try walker.next(in: payload)
    }
}
