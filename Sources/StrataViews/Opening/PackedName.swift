import StrataModel

/// The form of record names in keys (docs/format-keys.md §2). It has the order of the names, and a UUID takes 20 bytes
/// in it instead of 36.
///
/// ```swift
/// PackedName.withPacked(name) { key.append(lastText: $0) }
/// try PackedName.withName(of: key.readLastText()) { String(decoding: $0, as: UTF8.self) }
/// ```
@usableFromInline
package enum PackedName {
    /// The number of bytes by which the form of a name may be longer than the name.
    @usableFromInline package static let mostAdded = 1
    /// The number of bytes by which a name may be longer than its form.
    @usableFromInline static let mostSaved = 16

    private static let hyphen = UInt8(ascii: "-")
    private static let digitCount = 32
    private static let symbolBits: UInt64 = 5
    /// The number of characters and of packed bytes of a UUID.
    private static let (uuidCharacters, uuidBytes) = (36, 20)

    /// Calls `body` with the packed form of a name, which is valid only during the call.
    @inlinable
    package static func withPacked<Result>(
        _ name: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withUnsafeTemporaryAllocation(byteCount: name.count + mostAdded, alignment: 8) { packed in
            try body(UnsafeRawBufferPointer(rebasing: packed[..<pack(name, into: packed)]))
        }
    }

    /// Calls `body` with the name of a packed form, which is valid only during the call.
    ///
    /// - Throws: ``StrataError`` for bytes that cannot be unpacked. Some bytes can be that ``pack(_:into:)`` never
    ///   writes; only keys that it has written are read.
    @inlinable
    package static func withName<Result>(
        of packed: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(byteCount: packed.count + mostSaved, alignment: 8) { name in
            try body(UnsafeRawBufferPointer(rebasing: name[..<unpack(packed, into: name)]))
        }
    }

    /// Writes the packed form of a name, which is at most ``mostAdded`` bytes longer; returns its length.
    @usableFromInline
    package static func pack(_ name: UnsafeRawBufferPointer, into packed: UnsafeMutableRawBufferPointer) -> Int {
        if name.count >= uuidCharacters, packUUID(name, into: packed) {
            return append(name, from: uuidCharacters, to: packed, at: uuidBytes)
        }
        var (place, count, bits, bitCount) = (0, 0, UInt64(0), UInt64(0))
        for index in 0..<digitCount {
            let start = place
            if followsHyphen(index), place < name.count, name[place] == hyphen { place += 1 }
            let symbol =
                followsHyphen(index) && place == start
                ? symbolBesideHyphen(start < name.count ? name[start] : 0)
                : symbol(of: place < name.count ? name[place] : 0)
            bits = bits << symbolBits | symbol
            bitCount += symbolBits
            if isDigit(symbol) { place += 1 } else { place = start }
            if !isDigit(symbol), bitCount % 8 > 0 {
                bits <<= 8 - bitCount % 8
                bitCount += 8 - bitCount % 8
            }
            while bitCount >= 8 {
                bitCount -= 8
                packed[count] = UInt8(truncatingIfNeeded: bits >> bitCount)
                count += 1
            }
            if !isDigit(symbol) { break }
        }
        return append(name, from: place, to: packed, at: count)
    }

    /// Writes the name of a packed form, which is at most ``mostSaved`` bytes longer; returns its length.
    @usableFromInline
    static func unpack(
        _ packed: UnsafeRawBufferPointer, into name: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        if packed.count >= uuidBytes, unpackUUID(packed, into: name) {
            return append(packed, from: uuidBytes, to: name, at: uuidCharacters)
        }
        var (place, count, bits, bitCount) = (0, 0, UInt64(0), UInt64(0))
        for index in 0..<digitCount {
            if bitCount < symbolBits {
                guard place < packed.count else { throw malformed(packed, at: place, "longer") }
                bits = bits << 8 | UInt64(packed[place])
                (place, bitCount) = (place + 1, bitCount + 8)
            }
            bitCount -= symbolBits
            let symbol = bits >> bitCount
            bits &= 1 << bitCount - 1
            guard isDigit(symbol) else {
                guard bits == 0, gaps.contains(symbol) else {
                    throw malformed(packed, at: place, "a symbol of a name, and zeros after the last")
                }
                break
            }
            if followsHyphen(index) {
                name[count] = hyphen
                count += 1
            }
            name[count] = UInt8(truncatingIfNeeded: characters(of: symbol))
            count += 1
        }
        return append(packed, from: place, to: name, at: count)
    }

    private static func append(
        _ source: UnsafeRawBufferPointer, from start: Int, to target: UnsafeMutableRawBufferPointer, at place: Int
    ) -> Int {
        if start >= source.count { return place }
        UnsafeMutableRawBufferPointer(rebasing: target[place...]).copyMemory(from: .init(rebasing: source[start...]))
        return place + source.count - start
    }

    private static func malformed(
        _ packed: UnsafeRawBufferPointer, at place: Int, _ expected: String
    ) -> StrataError {
        ByteReader(packed, at: place).malformed("a record's name in a key", expected: expected)
    }

    // MARK: Symbols

    /// The symbols of characters that are no digits, by the digits between which they are.
    private static let gaps: [UInt64] = [0, 11, 18, 25]

    private static func followsHyphen(_ index: Int) -> Bool { index % 4 == 0 && (8...20).contains(index) }

    private static func isDigit(_ symbol: UInt64) -> Bool { symbol < 25 && symbol % 18 != 0 && symbol != 11 }

    /// - Parameter character: 0 at the end of the name, which precedes all digits as it does.
    private static func symbol(of character: UInt8) -> UInt64 {
        switch character {
        case ..<UInt8(ascii: "0"): 0
        case ...UInt8(ascii: "9"): UInt64(character) - 0x2F
        case ..<UInt8(ascii: "A"): 11
        case ...UInt8(ascii: "F"): UInt64(character) - 0x35
        case ..<UInt8(ascii: "a"): 18
        case ...UInt8(ascii: "f"): UInt64(character) - 0x4E
        default: 25
        }
    }

    /// The symbol of a character where a hyphen would be.
    private static func symbolBesideHyphen(_ character: UInt8) -> UInt64 { character < hyphen ? 0 : 25 }

    // MARK: Whole UUIDs, eight digits at a time

    /// Returns false, and writes nothing, if the name does not begin with a UUID.
    private static func packUUID(
        _ name: UnsafeRawBufferPointer, into packed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard name[8] == hyphen, name[13] == hyphen, name[18] == hyphen, name[23] == hyphen,
            let first = symbols(of: name.word(at: 0)),
            let second = symbols(of: name.halfWord(at: 9) | name.halfWord(at: 14) << 32),
            let third = symbols(of: name.halfWord(at: 19) | name.halfWord(at: 24) << 32),
            let fourth = symbols(of: name.word(at: 28))
        else { return false }
        let (a, b, c, d) = (joined(first), joined(second), joined(third), joined(fourth))
        packed.storeBytes(of: (a << 24 | b >> 16).bigEndian, as: UInt64.self)
        packed.storeBytes(of: (b << 48 | c << 8 | d >> 32).bigEndian, toByteOffset: 8, as: UInt64.self)
        packed.storeBytes(of: UInt32(truncatingIfNeeded: d).bigEndian, toByteOffset: 16, as: UInt32.self)
        return true
    }

    /// Returns false, and writes nothing, if the form does not begin with a UUID.
    private static func unpackUUID(
        _ packed: UnsafeRawBufferPointer, into name: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let (first, second) = (packed.word(at: 0).byteSwapped, packed.word(at: 8).byteSwapped)
        let third = packed.halfWord(at: 16).byteSwapped >> 32
        let (a, b) = (characters(of: split(first >> 24)), characters(of: split(first << 16 | second >> 48)))
        let (c, d) = (characters(of: split(second >> 8)), characters(of: split(second << 32 | third)))
        guard symbols(of: a) != nil, symbols(of: b) != nil, symbols(of: c) != nil, symbols(of: d) != nil else {
            return false
        }
        name.store(a, at: 0)
        name.store(halfWord: b, at: 9)
        name.store(halfWord: b >> 32, at: 14)
        name.store(halfWord: c, at: 19)
        name.store(halfWord: c >> 32, at: 24)
        name.store(d, at: 28)
        for place in [8, 13, 18, 23] { name[place] = hyphen }
        return true
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Returns the symbols of eight digits, the first in the lowest byte; nil if one is no digit.
    private static func symbols(of characters: UInt64) -> UInt64? {
        let letters = characters >> 6 & ones
        let small = characters >> 5 & letters
        let digits = characters & (0x0F * ones)
        guard characters & (0xF0 * ones) == 0x30 * ones + 0x10 * letters + 0x20 * small,
            // At most 9, and a letter 1 to 6.
            (digits + 6 * ones + 3 * letters) & (0x10 * ones) == 0, letters & ~((digits + 15 * ones) >> 4) == 0
        else { return nil }
        return digits + ones + 10 * letters + 7 * small
    }

    /// The characters of symbols; those of symbols that are no digits are no digits.
    private static func characters(of symbols: UInt64) -> UInt64 {
        let letters = (symbols + (32 - 12) * ones) >> 5 & ones
        let small = (symbols + (32 - 19) * ones) >> 5 & ones
        return symbols + 0x2F * ones + 6 * letters + 25 * small
    }

    /// Joins eight symbols to 40 bits.
    private static func joined(_ symbols: UInt64) -> UInt64 {
        var bits = symbols.byteSwapped
        bits = (bits & 0x1F00_1F00_1F00_1F00) >> 3 | bits & 0x001F_001F_001F_001F
        bits = (bits & 0x03FF_0000_03FF_0000) >> 6 | bits & 0x0000_03FF_0000_03FF
        return (bits >> 32) << 20 | bits & 0xF_FFFF
    }

    /// Splits the lowest 40 bits into eight symbols.
    private static func split(_ joined: UInt64) -> UInt64 {
        var bits = (joined >> 20 & 0xF_FFFF) << 32 | joined & 0xF_FFFF
        bits = (bits & 0x000F_FC00_000F_FC00) << 6 | bits & 0x0000_03FF_0000_03FF
        bits = (bits & 0x03E0_03E0_03E0_03E0) << 3 | bits & 0x001F_001F_001F_001F
        return bits.byteSwapped
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func word(at place: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    fileprivate func halfWord(at place: Int) -> UInt64 {
        UInt64(UInt32(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func store(_ word: UInt64, at place: Int) {
        storeBytes(of: word.littleEndian, toByteOffset: place, as: UInt64.self)
    }

    fileprivate func store(halfWord: UInt64, at place: Int) {
        storeBytes(of: UInt32(truncatingIfNeeded: halfWord).littleEndian, toByteOffset: place, as: UInt32.self)
    }
}
