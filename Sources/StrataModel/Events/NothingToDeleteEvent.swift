/// An audit event of a request that had nothing to delete and nothing else to do (B91).
package struct NothingToDeleteEvent: EventBody {
    package static let kind = EventKind.nothingToDelete
    package static let shownFields = ShownFields<Self> {
        Shown("count", "how many records were to be deleted but did not exist", after: "") { $0.count }
        Shown("asked", "the request in words, as far as kept", after: " not found; request: ") {
            ShownRequest(bytes: $0.request, byteCount: 0)
        }
        Shown("request", "the whole request (format.md, §19), in hexadecimal", if: "if it was kept") {
            $0.request.map(hexadecimal(of:))
        }
    }

    /// The number of records to delete that did not exist.
    package var count: UInt64
    /// The complete request, encoded; nil if it was too large.
    package private(set) var request: [UInt8]?

    /// Keeps the request unless it is larger than ``RequestRefusedEvent/maximumRequestBytes``.
    package init(count: UInt64, request: [UInt8]?) {
        self.count = count
        self.request = request.flatMap { $0.count > RequestRefusedEvent.maximumRequestBytes ? nil : $0 }
    }

    private static let request: UInt64 = 5

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(count)
        writer.appendMeasured { $0.appendField(Self.request, bytes: request) }
    }

    package init(from reader: inout ByteReader) throws {
        count = try reader.readVarint("the number of records")
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        while var field = try fields.next() {
            if field.key == Self.request {
                request = try field.bytes("a request", atMost: RequestRefusedEvent.maximumRequestBytes)
            } else {
                try field.skip()
            }
        }
    }
}
