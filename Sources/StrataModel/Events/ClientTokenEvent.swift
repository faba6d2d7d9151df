/// The token that a client saves with a request and gets back with the changes of the zone.
package struct ClientTokenEvent: StatedEvent {
    package static let kind = EventKind.clientTokenKept
    package static let shownFields = ShownFields<Self> {
        Shown(.zone) { $0.zone }
        Shown(.device) { $0.device }
        Shown("token", "the client's token, in hexadecimal") { hexadecimal(of: $0.token) }
    }
    package static let maximumBytes = 65_536

    package var zone: UInt64
    package var device: UInt64
    package var token: [UInt8]
    /// Distinguishes requests with the same token by the items that they save and delete; 0 if unknown.
    package var items: UInt64
    package var original: Version?

    private static let items: UInt64 = 5

    package init(zone: UInt64, device: UInt64, token: [UInt8], items: UInt64 = 0, original: Version? = nil) {
        self.zone = zone
        self.device = device
        self.token = token
        self.items = items
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.check("a client token's bytes", count: token.count, atMost: Self.maximumBytes)
        writer.appendVarint(zone)
        writer.appendVarint(device)
        writer.append(counted: token)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.items, items)
        }
    }

    package init(from reader: inout ByteReader) throws {
        zone = try reader.readVarint("a token's zone")
        device = try reader.readVarint("a token's device")
        token = Array(reader.bytes[try reader.readStringRange("a client token", atMost: Self.maximumBytes)])
        items = 0
        var fields = try KeyedFields(from: &reader, "the fields of a token")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.items: items = try field.number("the number of items of a request")
            default: try field.skip()
            }
        }
    }
}
