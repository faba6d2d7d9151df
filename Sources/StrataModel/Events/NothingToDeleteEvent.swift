/// An audit event of a request that had nothing to delete and nothing else to do (B91).
package struct NothingToDeleteEvent: EventBody {
    package static let kind = EventKind.nothingToDelete
    package static let shownFields = ShownFields<Self> {
        Shown("count", "how many records were to be deleted but did not exist", after: "") { $0.count }
        Shown("asked", "the request in words, as far as kept", after: " not found; request: ") {
            ShownRequest(bytes: $0.request, byteCount: $0.requestBytes)
        }
        Shown(
            "request", "the whole request (format.md, §19), in hexadecimal",
            if: "if it was kept, and has no URLs and addresses"
        ) {
            $0.request.flatMap(plainHexadecimal(ofRequest:))
        }
        Shown("requestBytes", "its length", if: "if it was not kept") { $0.requestBytes > 0 ? $0.requestBytes : nil }
    }

    /// The number of records to delete that did not exist.
    package var count: UInt64
    /// The complete request, encoded; nil if it was not kept.
    package private(set) var request: [UInt8]?
    /// The length of a request that was not kept; earlier releases did not note it.
    package private(set) var requestBytes: UInt64

    /// Keeps the request, or only its length if it is larger than ``RequestRefusedEvent/maximumRequestBytes``.
    package init(count: UInt64, request: [UInt8]?) {
        self.count = count
        self.request = request
        requestBytes = 0
        if let request, request.count > RequestRefusedEvent.maximumRequestBytes { dropRequest() }
    }

    /// Keeps only the length of the request.
    package mutating func dropRequest() {
        guard let request else { return }
        requestBytes = UInt64(request.count)
        self.request = nil
    }

    /// Replaces the kept request.
    mutating func replaceRequest(_ request: [UInt8]) { self.request = request }

    private static let request: UInt64 = 5
    private static let requestBytes: UInt64 = 7

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(count)
        writer.appendMeasured { writer in
            writer.appendField(Self.request, bytes: request)
            writer.appendField(Self.requestBytes, requestBytes)
        }
    }

    package init(from reader: inout ByteReader) throws {
        self.init(count: try reader.readVarint("the number of records"), request: nil)
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        while var field = try fields.next() {
            switch field.key {
            case Self.request: request = try field.bytes("a request", atMost: RequestRefusedEvent.maximumRequestBytes)
            case Self.requestBytes: requestBytes = try field.number("a request's length")
            default: try field.skip()
            }
        }
    }
}
