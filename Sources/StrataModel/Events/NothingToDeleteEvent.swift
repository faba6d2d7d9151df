/// An audit event of a request that had nothing to delete and nothing else to do (B91).
package struct NothingToDeleteEvent: RequestNote {
    package static let kind = EventKind.nothingToDelete
    package static let shownFields = ShownFields<Self> {
        Shown("count", "how many records were to be deleted but did not exist", after: "") { $0.count }
        Shown("asked", "the request in words, as far as kept", after: " not found; request: ") { $0.kept }
        Shown(
            "request", "the whole request (format.md, §19), in hexadecimal",
            if: "if it was kept, and has no URLs and addresses"
        ) { $0.kept.plainHexadecimal }
        Shown("requestBytes", "its length", if: "if it was not kept") { $0.kept.byteCount.nonzero }
    }

    /// The number of records to delete that did not exist.
    package var count: UInt64
    /// Earlier releases did not note the length of a request that was not kept.
    package var kept: KeptRequest

    package init(count: UInt64, request: [UInt8]?) {
        self.count = count
        kept = KeptRequest(request)
    }

    private static let request: UInt64 = 5
    private static let requestBytes: UInt64 = 7

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(count)
        writer.appendMeasured { writer in
            writer.appendField(Self.request, bytes: kept.bytes)
            writer.appendField(Self.requestBytes, kept.byteCount)
        }
    }

    package init(from reader: inout ByteReader) throws {
        self.init(count: try reader.readVarint("the number of records"), request: nil)
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        while var field = try fields.next() {
            switch field.key {
            case Self.request: kept.bytes = try field.bytes("a request", atMost: KeptRequest.maximumBytes)
            case Self.requestBytes: kept.byteCount = try field.number("a request's length")
            default: try field.skip()
            }
        }
    }
}
