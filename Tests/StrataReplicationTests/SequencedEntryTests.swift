import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("Entries of a sequencer")
struct SequencedEntryTests {
    private static let random = SeededRandom(seed: 11)

    private static func entry(_ content: SequencedEntry.Content) -> SequencedEntry {
        SequencedEntry(
            store: random.nextIdentifier(), id: random.nextIdentifier(), writer: random.nextIdentifier(),
            previous: random.nextIdentifier(), position: Position(offset: 123_456, chain: 0xDEAD_BEEF),
            content: content)
    }

    private static func commit(_ payload: [UInt8], time: Int64 = 5) -> NewCommit {
        NewCommit(id: random.nextIdentifier(), time: time, payload: payload[...])
    }

    private static func samples() throws -> [SequencedEntry] {
        let store = random.nextIdentifier()
        var identity = entry(
            .identity(
                try StoreIdentity(storeID: store, containerIdentifier: "iCloud.org.example.notes", created: 7),
                terms: "schema open"))
        identity.store = store
        var mark = entry(
            .base(
                BaseMark(
                    number: 9, entry: random.nextIdentifier(), horizon: Position(offset: 7, chain: 0xBEEF), time: 5,
                    base: random.nextIdentifier(), byteCount: 1 << 33, hash: random.nextBytes(count: 32),
                    identity: try StoreIdentity(storeID: store, containerIdentifier: "notes", created: 7),
                    terms: "schema open")))
        mark.store = store
        return [
            identity, entry(.fence), mark,
            entry(.part(EntryPart(of: store, index: 1_023, bytes: [1, 2, 3]))),
            entry(.whole(WholeEntry(commitCount: 2, partCount: 1_024, of: [4, 5]))),
            entry(
                .commits([
                    commit([]), commit([1, 2, 3], time: .min), commit(random.nextBytes(count: 200)),
                    commit([UInt8](repeating: 7, count: 300), time: .max),
                ])),
        ]
    }

    @Test("An entry is read back as it was written")
    func readBack() throws {
        for entry in try Self.samples() {
            let bytes = entry.encoded()
            let read = try SequencedEntry(decoding: bytes)
            #expect(read.encoded() == bytes)
            #expect(
                [read.store, read.id, read.writer, read.previous] == [
                    entry.store, entry.id, entry.writer, entry.previous,
                ])
            #expect(read.position == entry.position)
            switch (entry.content, read.content) {
            case (.fence, .fence): break
            case (.part(let left), .part(let right)):
                #expect(left.whole == right.whole && left.index == right.index && left.bytes == right.bytes)
            case (.whole(let left), .whole(let right)):
                #expect(left.commitCount == right.commitCount && left.partCount == right.partCount)
                #expect(left.byteCount == right.byteCount && left.checksum == right.checksum)
            case (.base(let left), .base(let right)): #expect(left == right)
            case (.identity(let left, let terms), .identity(let right, let readTerms)):
                #expect(left == right && terms == readTerms)
            case (.commits(let left), .commits(let right)):
                #expect(left.map(\.id) == right.map(\.id) && left.map(\.time) == right.map(\.time))
                #expect(left.map(\.payload) == right.map(\.payload))
            default: Issue.record("another kind of content")
            }
        }
    }

    @Test("Every changed bit of every byte is noticed")
    func changes() throws {
        for entry in try Self.samples() {
            let bytes = entry.encoded()
            for place in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[place] ^= 1 << bit
                    #expect(throws: StrataError.self, "byte \(place), bit \(bit)") {
                        _ = try SequencedEntry(decoding: changed)
                    }
                }
            }
        }
    }

    @Test("Every other length is noticed")
    func lengths() throws {
        for entry in try Self.samples() {
            let bytes = entry.encoded()
            for count in 0..<bytes.count {
                #expect(throws: StrataError.self, "\(count) bytes") {
                    _ = try SequencedEntry(decoding: Array(bytes[..<count]))
                }
            }
            #expect(throws: StrataError.self) { _ = try SequencedEntry(decoding: bytes + [0]) }
        }
    }

    /// Writes a number into an entry and makes its checksum right again.
    private static func forged<Number: FixedWidthInteger>(
        _ bytes: [UInt8], _ number: Number, at place: Int
    ) -> [UInt8] {
        var bytes = Array(bytes.dropLast(4))
        withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(place..<place + $0.count, with: $0) }
        let checksum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        return bytes + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
    }

    private static func code(of bytes: [UInt8]) -> StrataError.Code? {
        do { _ = try SequencedEntry(decoding: bytes) } catch { return (error as? StrataError)?.code }
        return nil
    }

    @Test("Content that a checksum vouches for is not trusted either")
    func forgeries() throws {
        let bytes = Self.entry(.commits([Self.commit([UInt8](repeating: 7, count: 300))])).encoded()
        #expect(Self.code(of: Self.forged(bytes, UInt16(1), at: 4)) == nil)
        // The version, the kind and the flags are another release's; what else is impossible is malformed.
        #expect(Self.code(of: Self.forged(bytes, UInt16(2), at: 4)) == .newerFormat)
        #expect(Self.code(of: Self.forged(bytes, UInt8(6), at: 6)) == .newerFormat)
        #expect(Self.code(of: Self.forged(bytes, UInt8(1), at: 7)) == .newerFormat)
        for count: UInt32 in [0, 2, .max] { #expect(Self.code(of: Self.forged(bytes, count, at: 8)) == .malformed) }
        #expect(Self.code(of: Self.forged(bytes, UInt64.max, at: 76)) == .malformed)
        #expect(Self.code(of: Self.forged(bytes, UInt32(1), at: 88)) == .malformed)
        for length: UInt32 in [0, 1, 299, 301, 64 << 20, .max] {
            #expect(Self.code(of: Self.forged(bytes, length, at: 116)) == .malformed, "\(length) bytes")
        }
        for length: UInt32 in [0, 1, 300, .max] {
            #expect(Self.code(of: Self.forged(bytes, length, at: 120)) == .malformed, "stored in \(length) bytes")
        }
    }
}
