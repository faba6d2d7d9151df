/// An audit event of a request that came to nothing.
package protocol RequestNote: EventBody {
    var kept: KeptRequest { get set }
}

extension RequestNote {
    /// The whole request, encoded; nil if it was not kept.
    package var request: [UInt8]? { kept.bytes }
}

extension Event {
    /// Decodes the note of a request; returns nil for an event of another kind.
    package func requestNote() throws -> (any RequestNote)? {
        try (kind.body as? any RequestNote.Type)?.init(decoding: body)
    }
}
