import StrataModel
import StrataSystem

/// A payload as JSON from which its bytes can be rebuilt: its header and events, or the raw bytes if those do not
/// encode to the same payload.
struct ExportedPayload {
    private let payload: ArraySlice<UInt8>
    /// Nil if the payload is exported as bytes.
    private let envelope: Envelope?
    private let names: KnownNames

    init(_ payload: ArraySlice<UInt8>, _ names: KnownNames) {
        // An export may be handed on.
        let payload = SecretMask.masked(payload)
        (self.payload, self.names) = (payload, names)
        envelope = (try? Envelope(decoding: payload)).flatMap { $0.encoded()[...] == payload ? $0 : nil }
    }

    static func checksum(_ payload: ArraySlice<UInt8>) -> UInt32 {
        payload.withUnsafeBytes { CRC32C.checksum($0) }
    }

    static let shape = Shape<Self>("A payload of an export") {
        Key("header", "the header of its payload", as: header, if: "unless `payload` is present") { payload in
            payload.envelope.map { ($0.header, payload.names) }
        }
        Key("events", "its events", each: event, if: "unless `payload` is present") { payload in
            payload.envelope?.events.lazy.map { (event: $0, names: payload.names) }
        }
        Key("payload", "in base64", if: "if header and events do not give the same bytes") {
            $0.envelope == nil ? Base64.text($0.payload) : nil
        }
        Key("checksum", "CRC-32C of the payload, in which the bytes of a store's secret are 0") {
            Hexadecimal(checksum($0.payload))
        }
    }

    private static let header = Shape<(header: EnvelopeHeader, names: KnownNames)>(
        "The header of a commit of an export", "Missing keys are 0, empty or false."
    ) {
        Key("user", name: "userName", "ordinal") { ($0.header.user, $0.names.user($0.header.user)) }
        Key("device", "ordinal", if: "if there is one") { $0.header.device == 0 ? nil : $0.header.device }
        Key("deviceName", "its name", if: "if known") { $0.names.device($0.header.device) }
        Key("operationID", "text", if: "if not empty") { $0.header.operationID.nonempty }
        Key("operationKind", "number of the kind") { $0.header.operationKind.rawValue }
        Key("operationName", "its name") { "\($0.header.operationKind)" }
        Key("qualityOfService", "its number", if: "if not the default") {
            $0.header.qualityOfService == .default ? nil : $0.header.qualityOfService.rawValue
        }
        Key("groupID", "text", if: "if not empty") { $0.header.groupID.nonempty }
        Key("groupName", "text", if: "if not empty") { $0.header.groupName.nonempty }
        Key("requestShape", "bytes in base64", if: "if not empty") { Base64.text($0.header.requestShape).nonempty }
        Key("lazy", "true", if: "if so") { $0.header.isLazy ? true : nil }
        Key("judgedOn", "offset of the state that judged the request", if: "if noted") { $0.header.judgedOn }
        Key(
            "actorKind", "who acted without a user's ordinal: 1 a user, 2 the service, 3 a person not signed in",
            if: "if noted"
        ) { $0.header.actorKind.map { UInt64($0.rawValue) } }
    }

    private static let event = Shape<(event: Event, names: KnownNames)>("An event of an export") {
        Key("kind", "number of its kind") { $0.event.kind.rawValue }
        Key("name", "name of its kind") { "\($0.event.kind)" }
        Key("body", "its exact bytes in base64, with zeros for those of a store's secret") {
            Base64.text($0.event.body)
        }
        Key(
            "content",
            "the keys of [an event](#an-event) of its kind, except `kind`, `name` and `bytes`. Only for reading: "
                + "`import` uses the body",
            if: "for kinds that have such keys, up to 1 MiB"
        ) { Content($0.event, $0.names) }
    }

    /// The content of an event's body, with the keys that `log --json` prints.
    private struct Content: JSONValue {
        /// Longer bodies are exported only as bytes.
        private static let maximumBodyBytes = 1 << 20
        static var jsonKind: JSONKind { "object" }

        private let event: Event
        private let names: KnownNames

        /// Returns nil for an event that is exported only as bytes.
        init?(_ event: Event, _ names: KnownNames) {
            guard event.body.count <= Self.maximumBodyBytes, event.kind == .nameInterned || event.kind.body != nil
            else {
                return nil
            }
            (self.event, self.names) = (event, names)
        }

        func write(to json: inout JSONWriter) throws {
            json.beginObject()
            try EventJSON.write(event, names, to: &json)
            json.endObject()
        }
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
            case "judgedOn": read.judgedOn = try reader.readNumber(UInt64.self)
            case "actorKind":
                let number = try reader.readNumber(UInt8.self)
                guard let kind = EnvelopeHeader.ActorKind(rawValue: number) else {
                    throw reader.error("the number of a kind of actor")
                }
                read.actorKind = kind
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
    static func readIdentifier(_ reader: inout JSONReader) throws -> Identifier {
        let digits = try readHexadecimal(UInt128.self, &reader)
        return Identifier(high: UInt64(truncatingIfNeeded: digits >> 64), low: UInt64(truncatingIfNeeded: digits))
    }

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
