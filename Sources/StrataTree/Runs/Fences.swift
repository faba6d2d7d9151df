import StrataModel
import StrataSystem
import Synchronization

/// The first key of each frame of a piece.
final class Fences: Sendable {
    private let map: RunMap
    private let section: Range<Int>
    /// The number of frames.
    private let count: Int
    private let isChecked = Atomic<Bool>(false)

    init(_ map: RunMap, _ section: Range<Int>, count: Int) {
        (self.map, self.section, self.count) = (map, section, count)
    }

    /// The place of the keys in the section.
    private var keysPlace: Int { 4 + 4 * count }

    /// The section, checked at its first use.
    private func bytes() throws -> UnsafeRawBufferPointer {
        let all = UnsafeRawBufferPointer(rebasing: map.bytes.all[section])
        if isChecked.load(ordering: .relaxed) { return all }
        guard all.count >= keysPlace + 4, case let keyBytes = Int(Bytes.load(UInt32.self, all, at: 0)),
            keysPlace + keyBytes + 4 == all.count
        else { throw map.malformed("fences of another length", at: section.lowerBound) }
        let sum = CRC32C.checksum(all.keeping(all.count - 4))
        let stored = Bytes.load(UInt32.self, all, at: all.count - 4)
        try map.check(sum, is: stored, of: "fences", at: section.lowerBound)
        isChecked.store(true, ordering: .relaxed)
        return all
    }

    func check() throws { _ = try bytes() }

    /// The first key of a frame.
    func key(ofFrame number: Int) throws -> UnsafeRawBufferPointer { try key(number, try bytes()) }

    private func key(_ number: Int, _ bytes: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        assert(number >= 1 && number <= count)
        let start = keysPlace + Int(Bytes.load(UInt32.self, bytes, at: 4 * number)) + 4
        guard start <= bytes.count else { throw map.malformed("a place in its fences", at: section.lowerBound) }
        let end = start + Int(Bytes.load(UInt16.self, bytes, at: start - 2))
        guard end <= bytes.count else { throw map.malformed("a length in its fences", at: section.lowerBound) }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Returns the last of a tree's frames whose first key is before a key, or equal to it if `orEqual`; nil if there
    /// is none.
    func frame(of key: UnsafeRawBufferPointer, in frames: Range<Int>, orEqual: Bool) throws -> Int? {
        if frames.isEmpty { return nil }
        let bytes = try bytes()
        var (low, high) = (frames.lowerBound, frames.upperBound)
        while low < high {
            let middle = (low + high) / 2
            let order = Bytes.compare(try self.key(middle, bytes), key)
            if order < 0 || orEqual && order == 0 { low = middle + 1 } else { high = middle }
        }
        return low > frames.lowerBound ? low - 1 : nil
    }
}
