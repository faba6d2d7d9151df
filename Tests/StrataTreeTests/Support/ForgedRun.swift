import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// The bytes of a file of a run, whose parts can be changed together with their checksums.
struct ForgedRun {
    private(set) var content: [UInt8]
    private let frameBytes: Int
    /// The parts, without the checksums of the fences and of the groups of the hash.
    let (footer, fences): (Range<Int>, Range<Int>)
    let groups: [Range<Int>]

    init(_ content: [UInt8], frameBytes: Int) throws {
        self.content = content
        self.frameBytes = frameBytes
        let tail = content.count - RunFormat.tailBytes
        let (start, count) = content.withUnsafeBytes { bytes in
            (
                Int(Bytes.load(UInt64.self, bytes, at: tail)), Int(Bytes.load(UInt32.self, bytes, at: tail + 8))
            )
        }
        footer = start..<start + count
        let decoded = try content[footer].withUnsafeBytes { try PieceFooter(decoding: $0) }
        fences = decoded.fencesFrame * frameBytes..<start - 4
        let layout = HashLayout(entries: Int(decoded.hashedEntries))
        groups = (0..<layout.groups).map { group in
            let start = decoded.hashFrame * frameBytes + group * RunFormat.groupBytes
            return start..<start + RunFormat.bucketsPerGroup * RunFormat.bucketBytes
        }
    }

    subscript(place: Int) -> UInt8 {
        get { content[place] }
        set { content[place] = newValue }
    }

    private mutating func seal(_ part: Range<Int>, at place: Int) {
        let sum = content[part].withUnsafeBytes { CRC32C.checksum($0) }
        content.replaceSubrange(place..<place + 4, with: withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) })
    }

    mutating func sealFrame(_ number: Int) {
        let start = number * frameBytes
        seal(start + RunFormat.countPlace..<start + frameBytes, at: start)
    }

    mutating func sealFences() { seal(fences, at: fences.upperBound) }
    mutating func sealGroup(_ group: Int) { seal(groups[group], at: groups[group].upperBound) }

    /// Returns the checksum, which a state also has.
    mutating func sealFooter() -> UInt32 {
        seal(footer, at: content.count - RunFormat.tailBytes + 12)
        return content[footer].withUnsafeBytes { CRC32C.checksum($0) }
    }

    /// The places of the entries that a bucket of the hash has, each with its slot.
    private var slots: [(place: Int, isUsed: Bool)] {
        groups.flatMap { group in
            stride(from: group.lowerBound, to: group.upperBound, by: RunFormat.bucketBytes).flatMap { bucket in
                (0..<RunFormat.slotsPerBucket).map { slot in
                    let place = bucket + RunFormat.bucketPlaces + 4 * slot
                    return (place, content[place..<place + 4].contains { $0 != 0 })
                }
            }
        }
    }

    /// The number of entries that the hash has.
    var hashedEntries: Int { slots.count { $0.isUsed } }

    /// Removes one entry from the hash.
    mutating func forgetHash() throws {
        let place = try #require(slots.first { $0.isUsed }).place
        content.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0])
        for group in groups.indices where groups[group].contains(place) { sealGroup(group) }
    }
}
