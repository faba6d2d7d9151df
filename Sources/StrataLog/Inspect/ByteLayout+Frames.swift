import StrataModel

extension ByteLayout {
    /// Takes apart a frame whose header is valid.
    static func frame(_ header: FrameHeader, _ bytes: [UInt8], at position: Int) -> ByteLayout {
        var fields: [Field] = [
            .init(count: 4, what: "magic StFr"),
            .init(count: 1, what: "kind \(header.kind.rawValue), a \(header.kind)"),
            .init(count: 1, what: header.codec == .lz4 ? "codec 1, LZ4" : "codec 0, stored as is"),
            .init(count: 2, what: "flags"), .init(count: 8, what: "offset \(header.offset)"),
            .init(count: 16, what: "commit id"), .init(count: 8, what: "time \(header.time)"),
            .init(count: 4, what: "raw length \(header.rawLength)"),
            .init(count: 4, what: "stored length \(header.storedLength)"), .init(count: 4, what: "chain"),
            .init(count: 4, what: "undurable \(header.undurable)"), .init(count: 4, what: "body checksum"),
            .init(count: 4, what: "header checksum"),
        ]
        let stored = Int(header.storedLength)
        let body = bytes.dropFirst(LogFormat.frameHeaderBytes).prefix(stored)
        if header.kind == .part, stored >= LogFormat.partPrefixBytes {
            let prefix = body.withUnsafeBytes { PayloadDecoder.PartPrefix($0) }
            fields += [
                .init(count: 8, what: "length of the whole payload: \(prefix.payloadBytes)"),
                .init(count: 4, what: "part \(prefix.index)"), .init(count: 4, what: "of \(prefix.count) parts"),
                .init(count: stored - LogFormat.partPrefixBytes, what: "piece of the payload"),
            ]
        } else if header.codec == .lz4 {
            fields.append(.init(count: stored, what: "payload, compressed"))
        } else {
            fields += (try? payload(body)) ?? [.init(count: stored, what: "payload")]
        }
        fields.append(.init(count: bytes.count - LogFormat.frameHeaderBytes - stored, what: "padding"))
        return ByteLayout(
            title: "a \(header.kind)", position: position, bytes: bytes, fields: fields.filter { $0.count > 0 },
            offsets: header.kind == .commit || header.kind == .part ? header.offset...header.offset : nil)
    }

    private static func count(_ count: UInt64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Returns the fields of an envelope, up to each of its events.
    private static func payload(_ body: ArraySlice<UInt8>) throws -> [Field] {
        // Decoded as a whole first, so that the following code can rely on it.
        let envelope = try Envelope(decoding: body)
        return try body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var fields: [Field] = []
            func add(_ what: String, from start: Int) {
                fields.append(.init(count: reader.position - start, what: what))
            }
            _ = try reader.read(UInt8.self, "the envelope version")
            add("envelope version \(Envelope.version)", from: 0)
            var start = reader.position
            let headerBytes = try reader.readVarint("the length of the header fields")
            add("\(count(headerBytes, "byte")) of header fields", from: start)
            let limit = reader.position + Int(headerBytes)
            while reader.position < limit {
                start = reader.position
                let key = try reader.readVarint("a header key")
                let length = UInt64(try reader.readStringRange("a header field", atMost: bytes.count).count)
                add("field \(key / 2)\(key % 2 == 1 ? ", optional" : ""): \(count(length, "byte"))", from: start)
            }
            start = reader.position
            _ = try reader.readVarint("the number of events")
            add(count(UInt64(envelope.events.count), "event"), from: start)
            for event in envelope.events {
                start = reader.position
                _ = try reader.readVarint("the kind of an event")
                _ = try reader.readVarint("the length of an event")
                let length = count(UInt64(event.body.count), "byte")
                add("kind \(event.kind.rawValue), \(event.kind); \(length)", from: start)
                start = reader.position
                _ = try reader.readRange(count: UInt64(event.body.count), "the body of an event")
                add("its body", from: start)
            }
            return fields
        }
    }
}
