import StrataModel

/// The place of each commit of one segment, and its touches. In memory only, rebuilt by reading the segment.
struct SegmentIndex: Sendable {
    let firstOffset: UInt64
    // The position of the first frame of commit firstOffset + i. Commits begin below 1 GiB, so 32 bits suffice.
    private var positions: [UInt32] = []
    /// The zones with direct lists. Ordinals are small and dense, so that most lists are found without hashing.
    private static let directZones: UInt64 = 4_096
    private var directLists: [ChangeList] = []
    private var otherLists: [UInt64: ChangeList] = [:]
    /// The position after the last frame.
    private(set) var endPosition: Int
    private(set) var changeListBytes = 0

    init(firstOffset: UInt64, endPosition: Int) {
        self.firstOffset = firstOffset
        self.endPosition = endPosition
    }

    var count: Int { positions.count }
    var byteCount: Int { positions.count * 4 + changeListBytes }

    mutating func append(
        offset: UInt64, range: Range<Int>, touches: [Touch], payload: UnsafeRawBufferPointer
    ) {
        precondition(offset == firstOffset + UInt64(positions.count), "commits are indexed in order")
        positions.append(UInt32(range.lowerBound))
        endPosition = range.upperBound
        for touch in touches {
            if touch.zone < Self.directZones {
                let zone = Int(touch.zone)
                while directLists.count <= zone { directLists.append(ChangeList()) }
                directLists[zone].append(touch, offset: offset, payload: payload)
            } else {
                otherLists[touch.zone, default: ChangeList()].append(touch, offset: offset, payload: payload)
            }
            // An estimate of the list's growth, so that counting does not cost a second look-up.
            changeListBytes += touch.key.count + 16
        }
    }

    func changeList(of zone: UInt64) -> ChangeList? {
        guard zone < Self.directZones else { return otherLists[zone] }
        return zone < directLists.count ? directLists[Int(zone)] : nil
    }

    /// Calls `body` for every zone that was touched, in order.
    func forEachChangeList(_ body: (_ zone: UInt64, ChangeList) throws -> Void) rethrows {
        for (zone, list) in directLists.enumerated() where list.count > 0 { try body(UInt64(zone), list) }
        for (zone, list) in otherLists.sorted(by: { $0.key < $1.key }) { try body(zone, list) }
    }

    /// Moves the end past a mark or seal, which belongs to no commit.
    mutating func extend(to position: Int) { endPosition = position }

    /// Returns the bytes from a commit's first frame to the next commit or the end of the frames. They may include a
    /// mark or seal.
    func range(of offset: UInt64) -> Range<Int>? {
        guard offset >= firstOffset, offset - firstOffset < UInt64(positions.count) else { return nil }
        let index = Int(offset - firstOffset)
        let limit = index + 1 < positions.count ? Int(positions[index + 1]) : endPosition
        return Int(positions[index])..<limit
    }
}

/// The index of a closed segment, shared by readers and never changed.
final class ClosedSegmentIndex: Sendable {
    let index: SegmentIndex

    init(_ index: SegmentIndex) { self.index = index }
}
