import StrataModel

/// Field values as JSON from which they can be rebuilt bit for bit, unlike "A value" of docs/reference/json.md.
struct ExportedValue {
    /// Returns the zone name to write for a reference to a zone; nil to omit it.
    let zoneName: (_ ordinal: UInt64) -> String?

    static let shape = Shape<(value: FieldValue, writer: Self)>("A value of an export") {
        Key("type", "as in a field of an event") { "\($0.value.kind)" }
        Key(
            "value",
            "a text or a number. A double that is not finite: its bits in 16 hexadecimal digits. A date: "
                + "seconds since 2001-01-01T00:00:00Z. Data: base64. A location: `latitude`, `longitude`, "
                + "`altitude`, `horizontalAccuracy`, `verticalAccuracy`, `course`, `speed` and `timestamp`. "
                + "A reference: `record`, `deletesWithTarget`, `loose` with true if it is loose, and `zone` "
                + "if it is another one. An asset: `hash` and `bytes`. An encrypted value: `key`, `nonce` and "
                + "`ciphertext`. A list: an array of these"
        ) { Content(value: $0.value, writer: $0.writer) }
    }

    func write(_ value: FieldValue, to json: inout JSONWriter) throws { try json.value((value, self), as: Self.shape) }

    private struct Content: JSONValue {
        let value: FieldValue
        let writer: ExportedValue

        static var jsonKind: JSONKind { "as its type says" }
        func write(to json: inout JSONWriter) throws { try writer.writeContent(of: value, to: &json) }
    }

    fileprivate func writeContent(of value: FieldValue, to json: inout JSONWriter) throws {
        switch value {
        case .string(let text): json.value(text)
        case .int64(let number): json.value(number)
        case .double(let number), .date(let number): Self.write(number, to: &json)
        case .data(let bytes): json.value(Base64.text(bytes))
        case .location(let place):
            json.beginObject()
            for (key, path) in Self.locationParts {
                json.key(key)
                Self.write(place[keyPath: path], to: &json)
            }
            json.endObject()
        case .reference(let reference):
            json.beginObject()
            try json.field("record", reference.target.name)
            if let zone = zoneName(reference.target.zone) { try json.field("zone", zone) }
            try json.fields(ofLink: reference)
            json.endObject()
        case .asset(let asset):
            json.beginObject()
            try json.field("hash", "\(asset.hash)")
            try json.field("bytes", asset.size)
            json.endObject()
        case .sealed(let sealed):
            json.beginObject()
            try json.field("key", sealed.keyID)
            try json.field("nonce", Base64.text(sealed.nonce))
            try json.field("ciphertext", Base64.text(sealed.ciphertext))
            json.endObject()
        case .list(let list):
            json.beginArray()
            for element in list.elements { try writeContent(of: element, to: &json) }
            json.endArray()
        }
    }

    /// Writes numbers that JSON lacks as text with their bits.
    private static func write(_ number: Double, to json: inout JSONWriter) {
        if number.isFinite { json.value(number) } else { json.value(hexadecimal(number.bitPattern)) }
    }

    private typealias Path = WritableKeyPath<FieldValue.Location, Double> & Sendable

    private static let locationParts: [(key: String, path: Path)] = [
        ("latitude", \.latitude), ("longitude", \.longitude), ("altitude", \.altitude),
        ("horizontalAccuracy", \.horizontalAccuracy), ("verticalAccuracy", \.verticalAccuracy), ("course", \.course),
        ("speed", \.speed), ("timestamp", \.timestamp),
    ]
}

// MARK: Reading

extension ExportedValue {
    /// Reads a field value. References without a zone refer to records of `zone`.
    ///
    /// - Parameter zone: the ordinal in the request that will contain the value.
    static func read(_ reader: inout JSONReader, zone: UInt64) throws -> FieldValue {
        var type = ""
        var value: FieldValue?
        try reader.readObject { key, reader in
            switch key {
            case "type": type = try reader.readString()
            case "value": value = try readContent(type, &reader, zone)
            default: try reader.skip()
            }
        }
        guard let value else { throw reader.error("a value after its type") }
        return value
    }

    private static func readContent(_ type: String, _ reader: inout JSONReader, _ zone: UInt64) throws -> FieldValue {
        let prefix = "list of "
        guard type.hasPrefix(prefix) || type == "empty list" else { return try readScalar(type, &reader, zone) }
        var elements: [FieldValue] = []
        try reader.readArray { elements.append(try readScalar(String(type.dropFirst(prefix.count)), &$0, zone)) }
        return .list(try FieldList(elements))
    }

    private static func readScalar(_ type: String, _ reader: inout JSONReader, _ zone: UInt64) throws -> FieldValue {
        switch type {
        case "string": return .string(try reader.readString())
        case "int64": return .int64(try reader.readNumber(Int64.self))
        case "double": return .double(try readDouble(&reader))
        case "date": return .date(try readDouble(&reader))
        case "data": return .data(try reader.readBase64())
        case "location": return .location(try readLocation(&reader))
        case "reference": return .reference(try readReference(&reader, zone))
        case "asset":
            throw StrataError(.assetNotAvailable, "A record of the export names an asset, but exports have no assets.")
        case "encrypted":
            throw StrataError(.keyMissing, "A record of the export has an encrypted value, but exports have no keys.")
        default: throw reader.error("a known type of value")
        }
    }

    private static func readDouble(_ reader: inout JSONReader) throws -> Double {
        guard reader.isAtString() else { return try reader.readNumber(Double.self) }
        let text = try reader.readString()
        guard text.utf8.count == 16, let bits = UInt64(text, radix: 16) else { throw reader.error("16 digits") }
        return Double(bitPattern: bits)
    }

    private static func readLocation(_ reader: inout JSONReader) throws -> FieldValue.Location {
        var place = FieldValue.Location(latitude: 0, longitude: 0)
        var missing = Set(locationParts.map(\.key))
        try reader.readObject { key, reader in
            guard let part = locationParts.first(where: { $0.key == key }) else { return try reader.skip() }
            place[keyPath: part.path] = try readDouble(&reader)
            missing.remove(key)
        }
        guard missing.isEmpty else { throw reader.error("a location with \(missing.sorted().joined(separator: ", "))") }
        return place
    }

    private static func readReference(_ reader: inout JSONReader, _ zone: UInt64) throws -> FieldValue.Reference {
        var name: String?
        var deletesWithTarget = false
        var otherZone: String?
        try reader.readObject { key, reader in
            switch key {
            case "record": name = try reader.readString()
            case "zone": otherZone = try reader.readString()
            case "deletesWithTarget": deletesWithTarget = try reader.readBool()
            default: try reader.skip()
            }
        }
        guard let name, otherZone == nil else { throw reader.error("a reference to a record of the same zone") }
        return .init(RecordKey(zone: zone, name: name), action: deletesWithTarget ? .deleteSelf : .none)
    }
}
