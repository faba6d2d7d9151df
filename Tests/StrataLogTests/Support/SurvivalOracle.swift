import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// Which commits must survive a repair, worked out by comparing the bytes of a damaged store with those it had: the
/// longest beginning of the log whose bytes are all there, but for headers and seals that follow from what is around
/// them.
struct SurvivalOracle {
    /// Content of the files of the whole store.
    private let whole: [String: [UInt8]]
    private let names: [String]
    private let identity: String

    init(_ store: TinyStore) throws {
        (names, identity) = (store.segments, store.path + "/STORE")
        whole = try Dictionary(uniqueKeysWithValues: store.disk.paths.map { ($0, try store.disk.content(of: $0)) })
    }

    /// The last offset that stays; nil if nothing can be done. Without a floor.
    func lastOffset(in damaged: TinyStore) throws -> UInt64? {
        guard try damaged.disk.content(of: identity) == whole[identity] else { return nil }
        var last: UInt64?
        for (index, path) in names.enumerated() {
            guard let original = whole[path], let bytes = try? damaged.disk.content(of: path),
                isHeaderKnown(bytes, original)
            else { return last }
            last = last ?? 0
            for frame in SeenFrame.all(in: original) {
                let isWhole =
                    bytes.count >= frame.range.upperBound && bytes[frame.range].elementsEqual(original[frame.range])
                if frame.kind == 1, !isWhole { return last }
                if frame.kind == 1 { last = frame.offset }
                guard frame.kind == 3, index + 1 < names.count else { continue }
                let isEndWhole = isWhole && !bytes[frame.range.upperBound...].contains { $0 != 0 }
                let next = try? damaged.disk.content(of: names[index + 1])
                guard isEndWhole || next?.prefix(128) == whole[names[index + 1]]?.prefix(128) else { return last }
            }
        }
        return last
    }

    /// All of a header is known from elsewhere but the segment's id; for that its checksum vouches, also if one byte of
    /// it is another. Where the checksum is what decayed, or the id, the first frame's header says that it is right.
    private func isHeaderKnown(_ bytes: [UInt8], _ original: [UInt8]) -> Bool {
        guard bytes.count >= 128 else { return false }
        if bytes[..<128] == original[..<128] { return true }
        let changedIDBytes = (68..<84).count { bytes[$0] != original[$0] }
        let isChecksumWhole = bytes[12..<16] == original[12..<16]
        if isChecksumWhole, changedIDBytes == 0 { return true }
        guard bytes.count >= 192, bytes[128..<192] == original[128..<192] else { return false }
        return isChecksumWhole
            ? changedIDBytes == 1 : bytes[..<12] + bytes[16..<128] == original[..<12] + original[16..<128]
    }

    /// Whether every byte of each file that a repair may have taken something from is still somewhere.
    func checkNothingIsThrownAway(_ damaged: TinyStore, _ repaired: TinyStore) throws {
        let left = try repaired.disk.paths.map { try repaired.disk.content(of: $0) }
        for path in damaged.disk.paths where path.contains("/log/") && !path.hasSuffix(".txt") {
            let content = try damaged.disk.content(of: path)
            try check(left.contains(content), "what \(path) held is nowhere any more")
        }
    }
}

/// Damage of every kind, chosen by a seed.
struct RandomDamage {
    private var generator: SeededGenerator
    private(set) var description = ""

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func apply(to store: TinyStore, stranger: TinyStore) throws {
        for _ in 0...generator.next(below: 2) { try applyOne(store, stranger) }
    }

    private mutating func applyOne(_ store: TinyStore, _ stranger: TinyStore) throws {
        guard !store.segments.isEmpty else { return }
        let path = store.segments[generator.next(below: store.segments.count)]
        let count = try store.disk.content(of: path).count
        guard count > 0 else { return }
        let place = generator.next(below: count)
        let kind = generator.next(below: 9)
        description += "\(kind) at \(place) of \(path.suffix(9)); "
        switch kind {
        case 0, 1, 2: try store.disk.flipBit(path, byte: place, bit: generator.next(below: 8))
        case 3: try store.disk.truncateFile(path, to: place)
        case 4:
            let sector = place / 512 * 512
            try store.disk.overwrite(path, at: sector, with: [UInt8](repeating: 0, count: min(512, count - sector)))
        case 5: try store.disk.overwrite(path, at: count, with: generator.nextBytes(1 + generator.next(below: 200)))
        case 6: try store.disk.removeFile(path)
        case 7:
            let other = store.segments[generator.next(below: store.segments.count)]
            let content = try store.disk.content(of: path)
            try store.disk.copyFile(other, to: path)
            store.disk.setContent(content, of: other)
        default:
            if let content = try? stranger.disk.content(of: path) { store.disk.setContent(content, of: path) }
        }
    }
}
