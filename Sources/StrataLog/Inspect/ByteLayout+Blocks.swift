import StrataModel

extension ByteLayout {
    /// Takes apart a block of a sealed segment or base whose header is valid. The body, which is mostly compressed,
    /// stays one field, except for that of an end block.
    static func block(_ header: BlockHeader, _ bytes: [UInt8], at position: Int) -> ByteLayout {
        let stored = Int(header.storedLength)
        var fields: [Field] = [
            .init(count: 4, what: "magic StBk"), .init(count: 1, what: "kind \(header.kind.rawValue), \(header.kind)"),
            .init(count: 1, what: header.codec == .lz4 ? "codec 1, LZ4" : "codec 0, stored as is"),
            .init(count: 2, what: "flags"), .init(count: 8, what: "first \(header.first)"),
            .init(count: 4, what: "count \(header.count)"), .init(count: 4, what: "raw length \(header.rawLength)"),
            .init(count: 4, what: "stored length \(header.storedLength)"), .init(count: 4, what: "chain"),
            .init(count: 8, what: "time \(header.time)"), .init(count: 4, what: "body checksum"),
            .init(count: 4, what: "header checksum"),
        ]
        if header.kind == .end, stored == 16 {
            fields += [
                .init(count: 8, what: "position of the index"), .init(count: 8, what: "bytes of the file"),
            ]
        } else {
            fields.append(.init(count: stored, what: header.codec == .lz4 ? "body, compressed" : "body"))
        }
        fields.append(.init(count: bytes.count - BlockHeader.byteCount - stored, what: "padding"))
        return ByteLayout(
            title: "a block: \(header.kind)", position: position, bytes: bytes, fields: fields.filter { $0.count > 0 },
            offsets: header.kind == .commits && header.count > 0 && header.first <= Version.maximumOffset
                ? header.first...header.first + UInt64(header.count) - 1 : nil)
    }
}
