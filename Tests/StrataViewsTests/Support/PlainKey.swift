/// Keys as docs/format-keys.md §2 describes them.
enum PlainKey {
    static func number(_ number: UInt64) -> [UInt8] {
        if number <= 246 { return [UInt8(number)] }
        let bytes = Array(plainBytes(number).reversed().drop { $0 == 0 })
        return [UInt8(247 + bytes.count - 1)] + bytes
    }

    static func text(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 { bytes += byte < 2 ? [1, byte + 1] : [byte] }
        return bytes + [0]
    }
}
