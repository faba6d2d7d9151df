import TestSupport
import Testing

@testable import StrataModel

@Suite("Batches of states")
struct StateBatchTests {
    /// - Parameter cut: the place at which the name is in two parts.
    private func stored(
        _ name: [UInt8], _ state: [UInt8], in batches: inout StateBatches, cut: Int = .max
    ) -> StoredState {
        name.prefix(cut).withUnsafeBytes { start in
            name.dropFirst(cut).withUnsafeBytes { rest in
                state.withUnsafeBytes { batches.append(name: start, rest: rest, state: $0) }
            }
        }
    }

    @Test("Each state stays as it was, whatever is appended, and holds on to no more than a batch")
    func states() throws {
        try withSeeds(100) { seed in
            var random = SeededGenerator(seed: seed)
            var batches = StateBatches(expecting: Int.random(in: 0...500, using: &random))
            let largest = seed % 4 == 0 ? 40_000 : 600
            let all = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                let name = bytes(Int.random(in: 0...40, using: &random), using: &random)
                return (name, bytes(Int.random(in: 0...largest, using: &random), using: &random))
            }
            let kept = all.map { stored($0.0, $0.1, in: &batches, cut: Int.random(in: 0...40, using: &random)) }
            for ((name, state), stored) in zip(all, kept) {
                try #require(stored.withName { [UInt8]($0) } == name)
                try #require(stored.withState { [UInt8]($0) } == state)
                try #require(stored.batch.capacity <= max(StateBatches.batchBytes, name.count + state.count))
                let short = stored.droppingFromKey(3)
                try #require(short.withName { [UInt8]($0) } == Array(name.dropFirst(3)))
                try #require(short.withState { [UInt8]($0) } == state)
            }
        }
    }

    private func bytes(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test("Few records leave little room over, and an expected number shares batches from the first one on")
    func rooms() {
        let state = [UInt8](repeating: 7, count: 100)
        var few = StateBatches()
        let rooms = (0..<7).map { _ in stored([], state, in: &few).batch.capacity }
        #expect(rooms == [100, 200, 200, 400, 400, 400, 400])
        var expected = StateBatches(expecting: 80)
        let first = stored([], state, in: &expected)
        #expect(first.batch.capacity == 8_000)
        #expect((1..<80).allSatisfy { _ in stored([], state, in: &expected).batch === first.batch })
        #expect(stored([], state, in: &expected).batch !== first.batch)
    }

    @Test("A value in place is the value that decoding gives, and of its own kind alone")
    func storedValues() throws {
        try withSeeds(300) { seed in
            var sample = SampleRecords(seed: seed)
            var builder = FieldTableBuilder()
            let changes = try sample.nextFields(removing: true)
            for change in changes {
                if let value = change.value {
                    try builder.append(change.field, value)
                } else {
                    try builder.append([change])
                }
            }
            var writer = ByteWriter()
            builder.finish(into: &writer)
            var seen: [FieldChange] = []
            try writer.bytes.withUnsafeBytes { bytes in
                try FieldTable(bytes, in: 0..<bytes.count).forEachValue { field, stored in
                    let value = try stored.decoded()
                    seen.append(FieldChange(field, value))
                    try #require(stored.kind == value.kind)
                    let text = try stored.withText { String(copying: $0) }
                    let data = stored.withData { span in
                        (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                    }
                    var parts: [FieldValue] = []
                    if let number = try stored.int64 { parts.append(.int64(number)) }
                    if let number = try stored.double { parts.append(.double(number)) }
                    if let number = try stored.date { parts.append(.date(number)) }
                    if let text { parts.append(.string(text)) }
                    if let data { parts.append(.data(data)) }
                    let isPlain = [.int64, .double, .date, .string, .data].contains(value.kind)
                    try #require(parts == (isPlain ? [value] : []))
                }
            }
            try #require(seen == changes.filter { $0.value != nil })
        }
    }

    @Test("A text in place is the text, of any length and with any letter at any place")
    func texts() throws {
        for count in 0...70 {
            for place in 0...count {
                let letters = [UInt8](repeating: 0x61, count: count)
                for other in ["", "\u{7F}", "é", "👩‍👧"] {
                    let text = letters.prefix(place) + other.utf8 + letters.dropFirst(place)
                    try ([FieldKind.string.rawValue] + text).withUnsafeBytes { bytes in
                        let value = StoredValue(bytes, in: 0..<bytes.count)
                        let read = try value.withText { (String(copying: $0), $0.isKnownASCII) }
                        try #require(read?.0 == String(decoding: text, as: UTF8.self))
                        try #require(read?.1 == text.allSatisfy { $0 < 0x80 })
                    }
                    let broken = [FieldKind.string.rawValue] + letters.prefix(place) + [0xC3] + letters.dropFirst(place)
                    try broken.withUnsafeBytes { bytes in
                        let value = StoredValue(bytes, in: 0..<bytes.count)
                        try #require(thrownError { _ = try value.withText { _ in } }?.code == .malformed)
                    }
                }
            }
        }
    }

    @Test("A number is the same wherever in a record it is, and one that is not the shortest is an error")
    func shortDoubles() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...9, using: &random)
            let content = bytes(count, using: &random)
            let before = bytes(Int.random(in: 0...12, using: &random), using: &random) + [FieldKind.double.rawValue]
            let bits = content.prefix(8).enumerated().reduce(UInt64(0)) { $0 | UInt64($1.1) << UInt64(56 - 8 * $1.0) }
            try (before + content).withUnsafeBytes { all in
                let value = StoredValue(all, in: before.count - 1..<all.count)
                if count > 8 || content.last == 0 {
                    try #require(thrownError { _ = try value.double }?.code == .malformed)
                } else {
                    try #require(try value.double?.bitPattern == bits)
                }
            }
        }
    }

    @Test("A text that is not valid is an error, in place as decoded")
    func brokenText() throws {
        let bytes: [UInt8] = [FieldKind.string.rawValue, 0xFF]
        try bytes.withUnsafeBytes { bytes in
            let value = StoredValue(bytes, in: 0..<2)
            do {
                _ = try value.withText { _ in }
                Issue.record("No error was thrown.")
            } catch let error as StrataError { #expect(error.code == .malformed) }
        }
    }

    @Test("A set of fields has what was put into it, however large the numbers")
    func fieldSets() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let limit = UInt32.max >> UInt32.random(in: 0..<32, using: &random)
            let fields = Set((0..<20).map { _ in UInt32.random(in: 0...limit, using: &random) })
            let set = FieldSet(fields)
            #expect(fields.allSatisfy(set.contains))
            #expect(
                (0..<200).map { _ in UInt32.random(in: 0...limit, using: &random) }
                    .allSatisfy { set.contains($0) == fields.contains($0) })
        }
        #expect(!FieldSet([]).contains(0))
    }
}
