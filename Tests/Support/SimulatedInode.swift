import StrataModel

/// A file without its name: what programs read, what the medium holds, and which sectors differ.
///
/// Invariants: a sector that is neither `dirty` nor `lost` is the same in both images; both images are zero behind the
/// larger of the two sizes, and the live one is zero behind its own.
final class SimulatedInode {
    static let sectorBytes = 512

    let number: Int
    /// Whether nobody but its owner may read it.
    var isPrivate = false
    /// The time of the last change to the content, in nanoseconds since 1970; a loss of power leaves it.
    var modified: Int64 = 0
    let live = StableMemory()
    private(set) var size = 0
    /// How often writing back failed. Each opening of the file is told of it once, as on Linux since 4.13.
    var writebackFailures = 0
    private let medium = StableMemory()
    private var mediumSize = 0
    /// Written since the last sync.
    private var dirty = SectorSet()
    /// Written, then forgotten by a sync that failed: no later sync writes them.
    private var lost = SectorSet()

    init(number: Int) { self.number = number }

    var needsSync: Bool { size != mediumSize || !dirty.isEmpty }

    func write(_ source: UnsafeRawBufferPointer, at position: Int) {
        live.store(source, at: position)
        size = max(size, position + source.count)
        touch(position..<position + source.count)
    }

    func resize(to newSize: Int) {
        if newSize < size {
            live.clear(from: newSize)
            touch(newSize..<size)
        }
        size = newSize
    }

    func sync() {
        for sector in dirty { medium.copy(Self.bytes(of: sector), from: live) }
        dirty.removeAll()
        medium.clear(from: size)
        mediumSize = size
    }

    /// What Linux does when writing back fails: the pages stay readable and count as clean.
    func loseUnsynced() {
        lost.formUnion(dirty)
        dirty.removeAll()
    }

    /// Changes the medium and what is readable alike, and nothing else of either.
    func damage(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        live.store(bytes, at: position)
        medium.store(bytes, at: position)
        size = max(size, position + bytes.count)
        mediumSize = max(mediumSize, position + bytes.count)
    }

    func damage(size newSize: Int) {
        live.clear(from: newSize)
        medium.clear(from: newSize)
        (size, mediumSize) = (newSize, newSize)
    }

    private func touch(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        let sectors = range.lowerBound / Self.sectorBytes..<(range.upperBound - 1) / Self.sectorBytes + 1
        dirty.insert(sectors)
        lost.remove(sectors)
    }

    private static func bytes(of sector: Int) -> Range<Int> {
        sector * sectorBytes..<(sector + 1) * sectorBytes
    }
}

extension SimulatedInode {
    /// The file that the medium shows after power is lost now.
    func afterPowerLoss(_ fate: inout some UnsyncedFate) -> SimulatedInode {
        let survivor = SimulatedInode(number: number)
        survivor.isPrivate = isPrivate
        survivor.modified = modified
        survivor.live.copy(0..<StableMemory.capacityBytes, from: medium)
        survivor.size = fate.size(between: mediumSize, and: size)
        // Cutting a file off writes nothing, so what was behind its new end is as it was or gone.
        let written = (size + Self.sectorBytes - 1) / Self.sectorBytes
        var unsynced = dirty
        unsynced.formUnion(lost)
        for sector in unsynced where sector < written {
            let kept = fate.keptBytes(ofSector: Self.sectorBytes, isLost: lost.contains(sector))
            let start = sector * Self.sectorBytes
            survivor.live.copy(start + kept.lowerBound..<start + kept.upperBound, from: live)
        }
        survivor.live.clear(from: survivor.size)
        survivor.medium.copy(0..<StableMemory.capacityBytes, from: survivor.live)
        survivor.mediumSize = survivor.size
        return survivor
    }
}
