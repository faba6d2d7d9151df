/// Encodes bytes as text (RFC 4648 §4, with padding).
enum Base64 {
    private static let digits = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let none: UInt8 = 0xFF

    /// The value of each digit, by its byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: Base64.none, count: 256)
        for (value, digit) in Base64.digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    static func text(_ bytes: some Collection<UInt8>) -> String {
        let length = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: length) { target in
            var (place, group, held) = (0, 0, 0)
            for byte in bytes {
                group = group << 8 | Int(byte)
                held += 1
                if held == 3 {
                    put(group, digits: 4, into: target, at: place)
                    (place, group, held) = (place + 4, 0, 0)
                }
            }
            if held > 0 { put(group << (8 * (3 - held)), digits: held + 1, into: target, at: place) }
            return length
        }
    }

    /// Writes four characters: the digits, then padding.
    private static func put(
        _ group: Int, digits count: Int, into target: UnsafeMutableBufferPointer<UInt8>, at place: Int
    ) {
        for index in 0..<4 {
            target[place + index] = index < count ? digits[group >> (18 - 6 * index) & 63] : padding
        }
    }

    /// Returns nil for text that ``text(_:)`` does not produce.
    static func bytes(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let paddingCount = text.suffix(2).reversed().prefix { $0 == padding }.count
        let digitCount = text.count - paddingCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var (group, held) = (0, 0)
        for index in 0..<digitCount {
            let value = values[Int(text[index])]
            guard value != none else { return nil }
            group = group << 6 | Int(value)
            held += 1
            guard held == 4 else { continue }
            for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: group >> shift)) }
            (group, held) = (0, 0)
        }
        switch held {
        case 0: return paddingCount == 0 ? bytes : nil
        // The remaining bits must be 0, or two texts would encode the same bytes.
        case 2 where group & 0xF == 0: return bytes + [UInt8(group >> 4)]
        case 3 where group & 0x3 == 0: return bytes + [UInt8(group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
        default: return nil
        }
    }
}
