/// The event that ends a base: the state up to an offset replaces its history.
package struct BaseMarkerEvent: EventBody {
    package static let kind = EventKind.baseMarker
    package static let shownFields = ShownFields<Self> {
        Shown("offset", "the last offset of the history that the base replaces") { $0.horizon.offset }
        Shown("stateDigest", "digest of the state, in hexadecimal") { hexadecimal($0.stateDigest) }
        Shown("contentDigest", "digest of its content, in hexadecimal") { hexadecimal($0.contentDigest) }
        Shown("payloads", "how many payloads of the base come before this one") { $0.payloadCount }
    }

    package var horizon: Position
    package var stateDigest: UInt128
    package var contentDigest: UInt128
    /// The number of payloads in the base before the marker's.
    package var payloadCount: UInt64
    /// The hash of these payloads (docs/compaction.md §3).
    package var payloadHash: UInt128

    package init(
        horizon: Position, stateDigest: UInt128, contentDigest: UInt128, payloadCount: UInt64 = 0,
        payloadHash: UInt128 = 0
    ) {
        self.horizon = horizon
        self.stateDigest = stateDigest
        self.contentDigest = contentDigest
        self.payloadCount = payloadCount
        self.payloadHash = payloadHash
    }

    private static let payloadCount: UInt64 = 2
    private static let payloadHash: UInt64 = 4

    package func encode(into writer: inout ByteWriter) throws {
        try Self.check(horizon.offset)
        writer.appendVarint(horizon.offset)
        writer.append(horizon.chain)
        writer.append(stateDigest)
        writer.append(contentDigest)
        writer.appendMeasured { writer in
            writer.appendField(Self.payloadCount, payloadCount)
            if payloadHash != 0 { writer.appendField(Self.payloadHash) { $0.append(payloadHash) } }
        }
    }

    package init(from reader: inout ByteReader) throws {
        let offset = try reader.readVarint("a base's horizon", atMost: Version.maximumOffset)
        horizon = Position(offset: offset, chain: try reader.read(UInt32.self, "a base's chain value"))
        stateDigest = try reader.read(UInt128.self, "a base's digest")
        contentDigest = try reader.read(UInt128.self, "a base's digest")
        (payloadCount, payloadHash) = (0, 0)
        var fields = try KeyedFields(from: &reader, "the fields of a base")
        while var field = try fields.next() {
            switch field.key {
            case Self.payloadCount: payloadCount = try field.number("the payloads of a base")
            case Self.payloadHash:
                payloadHash = try field.value.read(UInt128.self, "the hash of a base")
                guard payloadHash != 0 else {
                    throw field.value.malformed("the hash of a base", expected: "left out when it is 0")
                }
                try field.value.expectEnd("the hash of a base")
            default: try field.skip()
            }
        }
    }
}
