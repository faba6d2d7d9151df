import StrataModel
import TestSupport
import Testing

@testable import StrataViews

@Suite("Keys order as what they are made of")
struct KeyTests {
    private enum Part: Equatable {
        case number(UInt64)
        case text([UInt8])
        case int64(Int64)
        case double(Double)
        case byte(UInt8)

        func append(to key: inout KeyWriter) {
            switch self {
            case .number(let number): key.append(number: number)
            case .text(let text): key.append(text: text)
            case .int64(let number): key.append(int64: number)
            case .double(let number): key.append(double: number)
            case .byte(let byte): key.append(byte: byte)
            }
        }

        /// A part like this one.
        func read(from key: inout KeyReader) throws -> Part {
            switch self {
            case .number: .number(try key.readNumber())
            case .text: .text(try key.readText())
            case .int64: .int64(try key.readInt64())
            case .double: .double(try key.readDouble())
            case .byte: .byte(try key.readByte())
            }
        }

        /// Negative, 0 or positive, as values are compared.
        func compare(_ other: Part) -> Int {
            func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
                left < right ? -1 : left > right ? 1 : 0
            }
            switch (self, other) {
            case (.number(let left), .number(let right)): return order(left, right)
            case (.text(let left), .text(let right)):
                return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
            case (.int64(let left), .int64(let right)): return order(left, right)
            case (.double(let left), .double(let right)):
                if left.isNaN || right.isNaN { return order(left.isNaN ? 1 : 0, right.isNaN ? 1 : 0) }
                return order(left, right)
            case (.byte(let left), .byte(let right)): return order(left, right)
            default: return 0
            }
        }
    }

    private static let numbers: [UInt64] = {
        var numbers: [UInt64] = [0, 1, 245, 246, 247, 248, 254, 255, .max, .max - 1]
        for bit in 1..<64 as Range<UInt64> {
            let power: UInt64 = 1 << bit
            numbers += [power - 1, power, power + 1]
        }
        return numbers
    }()
    private static let doubles: [Double] = [
        0, -0.0, .infinity, -.infinity, .nan, -.nan, .signalingNaN, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .leastNormalMagnitude, -.leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1, -1, 1.5,
        .pi, Double(bitPattern: 0xFFFF_FFFF_FFFF_FFFF), Double(bitPattern: 0x000F_FFFF_FFFF_FFFF),
    ]
    private static let texts: [[UInt8]] = [
        [], [0], [0, 0], [0, 1], [1], [1, 0], [1, 1], [1, 2], [2], [0, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF],
        Array("a".utf8), Array("ab".utf8), Array("a\u{0}".utf8), Array("a\u{1}".utf8), Array("a\u{0}b".utf8),
    ]

    private func bytes(_ parts: [Part], last: [UInt8]? = nil) -> [UInt8] {
        var key = KeyWriter()
        for part in parts { part.append(to: &key) }
        if let last { key.append(lastText: last) }
        return key.bytes
    }

    private func check(_ left: [Part], _ right: [Part], last: ([UInt8], [UInt8])? = nil) throws {
        let keys = (bytes(left, last: last?.0), bytes(right, last: last?.1))
        let found = keys.0 == keys.1 ? 0 : keys.0.lexicographicallyPrecedes(keys.1) ? -1 : 1
        let parts = zip(left, right).lazy.map { $0.compare($1) }.first { $0 != 0 }
        let expected = parts ?? last.map { Part.text($0.0).compare(.text($0.1)) } ?? 0
        try #require(found == expected, "\(left) and \(right)")
    }

    private func checkEach(_ parts: [Part]) throws {
        for left in parts {
            for right in parts { try check([left], [right]) }
            try checkReading([left])
        }
    }

    private func checkReading(_ parts: [Part], last: [UInt8] = []) throws {
        try bytes(parts, last: last).withUnsafeBytes { bytes in
            var key = KeyReader(bytes)
            for part in parts {
                let read = try part.read(from: &key)
                if case .double(let number) = part, case .double(let found) = read {
                    try #require(found.isNaN == number.isNaN && (found == number || number.isNaN))
                    try #require(found.sign == .plus || number < 0, "−0 and NaN are stored as one")
                } else {
                    try #require(read == part)
                }
            }
            try #require(Array(key.readLastText()) == last)
        }
    }

    @Test("Numbers of all lengths")
    func numbers() throws {
        try checkEach(Self.numbers.map { .number($0) })
        #expect(bytes([.number(246)]) == [246])
        #expect(bytes([.number(247)]) == [247, 247])
        #expect(bytes([.number(.max)]) == [254] + [UInt8](repeating: 255, count: 8))
        for number in Self.numbers { #expect(bytes([.number(number)]) == PlainKey.number(number)) }
    }

    @Test("Texts, int64 and doubles at their edges")
    func others() throws {
        try checkEach(Self.texts.map { .text($0) })
        let edges: [Int64] = [.min, .min + 1, -1, 0, 1, .max]
        let numbers = edges + Self.numbers.map { Int64(truncatingIfNeeded: $0) }
        try checkEach(numbers.map { .int64($0) })
        try checkEach(Self.doubles.map { .double($0) })
        try checkEach([0, 1, 246, 247, 255].map { .byte($0) })
        #expect(bytes([.double(.nan)]) == [0xFF, 0xF8, 0, 0, 0, 0, 0, 0])
        #expect(bytes([.double(-0.0)]) == bytes([.double(0)]))
    }

    @Test("Keys of several parts, whatever follows what")
    func composite() throws {
        try withSeeds(400) { seed in
            var generator = SeededGenerator(seed: seed)
            let kinds = (0..<1 + generator.next(below: 4)).map { _ in generator.next(below: 5) }
            let left = kinds.map { part($0, &generator) }
            // Often the same up to some part, so that the parts behind it decide.
            let shared = generator.next(below: kinds.count + 1)
            let right = Array(left.prefix(shared)) + kinds.dropFirst(shared).map { part($0, &generator) }
            let last = (text(&generator), text(&generator))
            try check(left, right, last: last)
            try checkReading(left, last: last.0)
        }
    }

    private func text(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<generator.next(below: 4)).map { _ in [0, 1, 2, 0x61, 0xFE, 0xFF][generator.next(below: 6)] }
    }

    private func part(_ kind: Int, _ generator: inout SeededGenerator) -> Part {
        switch kind {
        case 0: .number(Self.numbers[generator.next(below: Self.numbers.count)])
        case 1: .text(text(&generator))
        case 2: .int64(Int64(bitPattern: generator.next() >> UInt64(generator.next(below: 64))))
        case 3: .double(Self.doubles[generator.next(below: Self.doubles.count)])
        default: .byte(UInt8(truncatingIfNeeded: generator.next()))
        }
    }

    private func error<Value>(of bytes: [UInt8], _ read: (inout KeyReader) throws -> Value) -> StrataError? {
        thrownError {
            try bytes.withUnsafeBytes { bytes in
                var key = KeyReader(bytes)
                _ = try read(&key)
            }
        }
    }

    @Test("Bytes that are no key give errors, and never the same value twice")
    func malformed() throws {
        for bytes: [UInt8] in [
            [], [255], [247], [247, 246], [248, 1], [248, 0, 255], [254, 0, 1, 2, 3, 4, 5, 6, 7],
        ] {
            #expect(error(of: bytes) { try $0.readNumber() }?.code == .malformed)
        }
        for bytes: [UInt8] in [[], [1], [2], [1, 0], [1, 3, 0], [0x61, 1]] {
            #expect(error(of: bytes) { try $0.readText() }?.code == .malformed)
        }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            let bytes = generator.nextBytes(generator.next(below: 12))
            let kind = generator.next(below: 5)
            bytes.withUnsafeBytes { bytes in
                var key = KeyReader(bytes)
                _ = try? part(kind, &generator).read(from: &key)
                _ = try? key.readLastText()
            }
        }
    }
}

/// The error of the engine that `body` throws; nil if it throws none, or another kind.
func thrownError(_ body: () throws -> Void) -> StrataError? {
    do { try body() } catch { return error as? StrataError }
    return nil
}
