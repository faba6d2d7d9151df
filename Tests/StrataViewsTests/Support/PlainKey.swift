/// Keys as docs/format-keys.md §2 describes them.
enum PlainKey {
    static func number(_ number: UInt64) -> [UInt8] {
        if number <= 246 { return [UInt8(number)] }
        let bytes = Array(plainBytes(number).reversed().drop { $0 == 0 })
        return [UInt8(247 + bytes.count - 1)] + bytes
    }

    static func text(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text { bytes += byte < 2 ? [1, byte + 1] : [byte] }
        return bytes + [0]
    }

    /// A name at the end of a key: whole up to 300 bytes, else 285 bytes and a hash.
    static func lastName(_ name: String) -> [UInt8] {
        let bytes = Array(name.utf8)
        return bytes.count <= 300 ? bytes : bytes[..<285] + plainBytes(PlainHash.hash(bytes))
    }

    static func name(_ name: String) -> [UInt8] { text(lastName(name)) }
}
