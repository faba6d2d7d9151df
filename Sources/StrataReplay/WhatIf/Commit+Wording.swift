import StrataLog
import StrataModel

extension Commit {
    var header: EnvelopeHeader {
        get throws { try payload.withUnsafeBytes { try EventWalker($0).header() } }
    }

    /// Returns true if a payload is that of the commit, except for the wording of refusals.
    func isSame(as other: [UInt8]) throws -> Bool {
        if payload == other[...] { return true }
        guard let words = try Envelope(decoding: payload).withoutWording else { return false }
        return try words == Envelope(decoding: other[...]).withoutWording
    }
}

extension Event {
    /// Returns true if two audits are the same, except for the wording of a refusal.
    func isSame(as other: Event) throws -> Bool {
        if self == other { return true }
        guard let words = try withoutWording else { return false }
        return try words == other.withoutWording
    }

    /// The audit without the message of its refusal; nil if it has none.
    private var withoutWording: Event? {
        get throws {
            guard kind == .requestRefused else { return nil }
            var refused = try RequestRefusedEvent(decoding: body)
            guard refused.message != nil else { return nil }
            refused.message = nil
            return try refused.event()
        }
    }
}

extension Envelope {
    var internedNames: [InternedName] {
        get throws {
            try events.filter { $0.kind == .nameInterned }.map { try InternedName(decoding: $0.body) }
        }
    }

    /// The audit of a commit that has nothing else but names; nil if it has more.
    var plainAudit: Event? {
        let isPlain = events.dropLast().allSatisfy { $0.kind.isIncidental }
        guard let last = events.last, last.kind.isAudit, isPlain else { return nil }
        return last
    }

    /// The envelope without the messages of its request's refusals; nil if it has none.
    fileprivate var withoutWording: Envelope? {
        get throws {
            if header.requestShape.isEmpty { return nil }
            var shape = try RequestShape(decoding: header.requestShape)
            // Earlier releases marked a whole request in another way.
            guard let request = shape.request, !shape.leftOut.isEmpty else { return nil }
            let items = shape.leftOut.map { item in
                var item = item
                item.refusal?.message = ""
                return item
            }
            shape.leaveOut(items, request: request)
            var envelope = self
            envelope.header.requestShape = try shape.encoded()[...]
            return envelope
        }
    }
}
