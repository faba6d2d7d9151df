import StrataModel
import StrataSystem

/// A payload as JSON from which its bytes can be rebuilt: its header and events, or the raw bytes if those do not
/// encode to the same payload.
struct ExportedPayload {
    let names: KnownNames

    /// Writes the keys of a payload into an open object.
    func write(_ payload: ArraySlice<UInt8>, to json: inout JSONWriter) {
        if let envelope = try? Envelope(decoding: payload), envelope.encoded()[...] == payload {
            write(envelope.header, to: &json)
            let content = ExportedEvent(names: names)
            json.beginArray("events")
            for event in envelope.events {
                json.beginObject()
                json.field("kind", event.kind.rawValue)
                json.field("name", "\(event.kind)")
                json.field("body", Base64.text(event.body))
                content.write(event, to: &json)
                json.endObject()
            }
            json.endArray()
        } else {
            json.field("payload", Base64.text(payload))
        }
        json.field("checksum", hexadecimal: Self.checksum(payload))
    }

    static func checksum(_ payload: ArraySlice<UInt8>) -> UInt32 {
        payload.withUnsafeBytes { CRC32C.checksum($0) }
    }

    /// Omits fields that have their default value.
    private func write(_ header: EnvelopeHeader, to json: inout JSONWriter) {
        json.beginObject("header")
        json.user(header.user, names)
        if header.device != 0 { json.field("device", header.device) }
        if let name = names.device(header.device) { json.field("deviceName", name) }
        if !header.operationID.isEmpty { json.field("operationID", header.operationID) }
        json.field("operationKind", header.operationKind.rawValue)
        json.field("operationName", "\(header.operationKind)")
        if header.qualityOfService != .default { json.field("qualityOfService", header.qualityOfService.rawValue) }
        if !header.groupID.isEmpty { json.field("groupID", header.groupID) }
        if !header.groupName.isEmpty { json.field("groupName", header.groupName) }
        if !header.requestShape.isEmpty { json.field("requestShape", Base64.text(header.requestShape)) }
        if header.isLazy { json.field("lazy", true) }
        json.endObject()
    }
}

/// Collects the keys of a payload as they are read.
struct ImportedPayload {
    private var header = EnvelopeHeader()
    private var events: [Event] = []
    private var whole: [UInt8]?
    private var checksum: UInt32?

    /// Returns false for a key that does not belong to a payload, and leaves its value unread.
    mutating func read(_ key: String, _ reader: inout JSONReader) throws -> Bool {
        switch key {
        case "header": try readHeader(&reader)
        case "events": try reader.readArray { events.append(try Self.readEvent(&$0)) }
        case "payload": whole = try reader.readBase64()
        case "checksum": checksum = try Self.readHexadecimal(UInt32.self, &reader)
        default: return false
        }
        return true
    }

    /// Returns the bytes of the payload.
    ///
    /// - Throws: ``StrataError`` if they are not the exported bytes.
    func bytes(_ reader: JSONReader) throws -> [UInt8] {
        let bytes = try whole ?? encoded(reader)
        guard let checksum, ExportedPayload.checksum(bytes[...]) == checksum else {
            throw StrataError(
                .badChecksum, "A payload of the export does not match its checksum.",
                .init(
                    expected: checksum.map { hexadecimal($0) } ?? "a checksum",
                    found: hexadecimal(ExportedPayload.checksum(bytes[...]))))
        }
        return bytes
    }

    /// Checks the limits first, since the encoder ends the process for a payload that exceeds them.
    private func encoded(_ reader: JSONReader) throws -> [UInt8] {
        let texts = [header.operationID, header.groupID, header.groupName]
        guard texts.allSatisfy({ $0.utf8.count <= EnvelopeHeader.maximumTextBytes }) else {
            throw reader.error("texts of a header of at most \(EnvelopeHeader.maximumTextBytes) bytes")
        }
        guard (1...Envelope.maximumEventCount).contains(UInt64(events.count)) else {
            throw reader.error("a payload, or 1 to \(Envelope.maximumEventCount) events")
        }
        return Envelope(header: header, events: events).encoded()
    }

    private mutating func readHeader(_ reader: inout JSONReader) throws {
        var read = EnvelopeHeader()
        try reader.readObject { key, reader in
            switch key {
            case "user": read.user = try reader.readNumber(UInt64.self)
            case "device": read.device = try reader.readNumber(UInt64.self)
            case "operationID": read.operationID = try reader.readString()
            case "operationKind": read.operationKind = .init(rawValue: try reader.readNumber(UInt64.self))
            case "qualityOfService": read.qualityOfService = .init(rawValue: try reader.readNumber(UInt64.self))
            case "groupID": read.groupID = try reader.readString()
            case "groupName": read.groupName = try reader.readString()
            case "requestShape": read.requestShape = try reader.readBase64()[...]
            case "lazy": read.isLazy = try reader.readBool()
            default: try reader.skip()
            }
        }
        header = read
    }

    private static func readEvent(_ reader: inout JSONReader) throws -> Event {
        var kind: UInt64?
        var body: [UInt8]?
        try reader.readObject { key, reader in
            switch key {
            case "kind": kind = try reader.readNumber(UInt64.self)
            case "body": body = try reader.readBase64()
            default: try reader.skip()
            }
        }
        guard let kind, let body else { throw reader.error("an event with kind and body") }
        return Event(EventKind(rawValue: kind), body: body[...])
    }

    /// Reads a number with all its hexadecimal digits.
    static func readHexadecimal<Number: FixedWidthInteger & UnsignedInteger>(
        _: Number.Type, _ reader: inout JSONReader
    ) throws -> Number {
        let text = try reader.readString()
        guard text.utf8.count == Number.bitWidth / 4, let number = Number(text, radix: 16) else {
            throw reader.error("\(Number.bitWidth / 4) hexadecimal digits")
        }
        return number
    }
}
