import StrataModel

/// Searches for a part of a text, optionally ignoring case and accents.
struct TextSearch {
    private let part: [UInt8]
    private let options: TextFolding.Options
    private let isCaseInsensitive: Bool

    init(_ part: String, _ options: TextFolding.Options) {
        self.part = Array(TextFolding.fold(part, options).utf8)
        self.options = options
        isCaseInsensitive = options.contains(.caseInsensitive)
    }

    func finds(_ text: UnsafeRawBufferPointer) -> Bool {
        if part.isEmpty { return true }
        if options.isEmpty || Self.isASCII(text) {
            return part.withUnsafeBytes { Self.contains(text, $0, ignoringCase: isCaseInsensitive) }
        }
        let folded = Array(TextFolding.fold(String(decoding: text, as: UTF8.self), options).utf8)
        return folded.withUnsafeBytes { folded in
            part.withUnsafeBytes { Self.contains(folded, $0, ignoringCase: false) }
        }
    }

    private static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= text.count {
            let eight = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if eight & 0x8080_8080_8080_8080 != 0 { return false }
            place += 8
        }
        while place < text.count {
            if text[place] >= 0x80 { return false }
            place += 1
        }
        return true
    }

    /// - Parameter part: not empty, and lowercase if case is ignored.
    private static func contains(
        _ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, ignoringCase: Bool
    ) -> Bool {
        guard text.count >= part.count else { return false }
        // Upper- and lowercase letters differ in one bit, but so do some other characters.
        let caseBit: UInt8 = ignoringCase ? 0x20 : 0
        let first = part[0] | caseBit
        let second = part.count > 1 ? part[1] | caseBit : 0
        let last = text.count - part.count
        var place = 0
        // Checks eight positions at a time, as long as the bytes after them are also in the text.
        while place <= last, place + 9 <= text.count {
            var candidates = places(of: first, in: text, at: place, caseBit)
            if part.count > 1 { candidates &= places(of: second, in: text, at: place + 1, caseBit) }
            while candidates != 0 {
                let candidate = place + candidates.trailingZeroBitCount / 8
                if candidate <= last, isThere(part, in: text, at: candidate, ignoringCase) { return true }
                candidates &= candidates - 1
            }
            place += 8
        }
        while place <= last {
            if isThere(part, in: text, at: place, ignoringCase) { return true }
            place += 1
        }
        return false
    }

    /// The positions of a byte among eight: the highest bit of each match is set. The byte after a match may also be
    /// marked.
    @inline(__always)
    private static func places(
        of byte: UInt8, in text: UnsafeRawBufferPointer, at place: Int, _ caseBit: UInt8
    ) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let eight = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        let difference = (eight | UInt64(caseBit) &* ones) ^ UInt64(byte) &* ones
        return (difference &- ones) & ~difference & 0x8080_8080_8080_8080
    }

    @inline(__always)
    private static func isThere(
        _ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, at place: Int, _ ignoringCase: Bool
    ) -> Bool {
        for index in 0..<part.count {
            let byte = text[place + index]
            if (ignoringCase ? TextFolding.lowercase(byte) : byte) != part[index] { return false }
        }
        return true
    }
}
