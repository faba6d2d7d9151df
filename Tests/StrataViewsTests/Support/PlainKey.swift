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

    static func recordName(_ name: String) -> [UInt8] { text(lastRecordName(name)) }

    static func lastRecordName(_ name: String) -> [UInt8] { packed(lastName(name)) }

    /// A name whose digits in the places of a UUID take five bits each, character by character.
    static func packed(_ name: [UInt8]) -> [UInt8] {
        let order = Array("0123456789:ABCDEFGabcdefg".utf8)
        var (bits, rest) = ("", name[...])
        for place in 0..<32 {
            let isBehindHyphen = [8, 12, 16, 20].contains(place)
            let isSplit = isBehindHyphen && rest.first == 0x2D
            let character = (isSplit ? rest.dropFirst() : rest).first ?? 0
            // Of the characters up to this one, the last in the order stands for it.
            var symbol = order.lastIndex { $0 <= character }.map { $0 + 1 } ?? 0
            if isBehindHyphen, !isSplit { symbol = (rest.first ?? 0) < 0x2D ? 0 : 25 }
            bits += String(32 + symbol, radix: 2).dropFirst()
            if [0, 11, 18, 25].contains(symbol) { break }
            rest = rest.dropFirst(isSplit ? 2 : 1)
        }
        while bits.count % 8 > 0 { bits += "0" }
        var bytes: [UInt8] = []
        while let byte = UInt8(bits.prefix(8), radix: 2) {
            bytes.append(byte)
            bits = String(bits.dropFirst(8))
        }
        return bytes + rest
    }
}
