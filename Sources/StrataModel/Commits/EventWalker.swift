/// Iterates over the events of a payload without copying them, as is done when a commit is applied.
///
/// ```swift
/// var walker = try EventWalker(payload)
/// let user = try walker.header().user
/// while let event = try walker.next() where event.kind == .recordSaved {
///     try merger.apply(try RecordSavedView(payload, in: event.body), at: place, to: state, into: &writer)
/// }
/// ```
package struct EventWalker {
    // Valid only inside the `withUnsafeBytes` call that provided it.
    private let payload: UnsafeRawBufferPointer
    private var walker: EnvelopeWalker

    /// Creates a walker. `payload` must stay alive as long as the walker is used.
    package init(_ payload: UnsafeRawBufferPointer) throws {
        self.payload = payload
        walker = try EnvelopeWalker(payload)
    }

    package var eventCount: Int { walker.eventCount }

    /// The number of events that `next` has returned, which is the index of the next one.
    package var eventIndex: Int { walker.eventIndex }

    package func header() throws -> EnvelopeHeader {
        try EnvelopeHeader(decoding: ByteReader(payload, in: walker.headerRange))
    }

    /// Returns the next event with the range of its body in the payload; nil at the end.
    package mutating func next() throws -> (kind: EventKind, body: Range<Int>)? {
        try walker.next(in: payload)
    }
}
