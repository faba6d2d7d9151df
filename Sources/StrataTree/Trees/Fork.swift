import StrataModel

/// A private writable copy of a snapshot. Creating it costs nothing, and dropping it undoes everything.
///
/// Used by one thread at a time. A change with valid arguments may still throw halfway, because there is no room. The
/// fork then rejects all calls, and can only be dropped.
///
/// ```swift
/// let fork = store.fork()
/// try fork.put(records, key, value)
/// try store.publish(fork)
/// ```
@usableFromInline
package final class Fork {
    let generation: Generation
    /// The layers under the fork's own trees.
    let below: Below
    let epoch: UInt64
    var roots: TreeRoots
    /// Keeps the pages that this fork can reach from being used again: the state it was made on, or the state it was
    /// published as. Nil for an unpublished fork on a fork, which keeps that one.
    private var base: Snapshot?
    /// The epoch that must be the newest when this fork is published.
    let baseEpoch: UInt64
    /// The fork that this one was made on, until this one is published.
    private var lower: Fork?
    /// Incremented by every change, so that cursors notice.
    private(set) var changeCount = 0
    private enum Stage {
        case open
        /// Another fork was made on this one.
        case frozen
        case published
        /// A change failed halfway.
        case failed
    }

    private var stage = Stage.open

    /// Pages that are taken and unused.
    private var available: [PageNumber] = []
    /// All pages that were taken.
    private var taken: [PageNumber] = []
    /// Pages of older states that this fork no longer reaches.
    private var replaced: [PageNumber] = []
    /// Room for values that is taken and unused.
    private var valueRoom = 0..<0
    /// The path from the root to a leaf, all of whose pages belong to this fork.
    let path = TreePath()
    let content = PageContent()
    /// The memory of a separator and of a stored ``ValuePlace``.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PageLayout.maximumKeyBytes + ValuePlace.storedBytes, alignment: 8)

    var separatorBuffer: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<PageLayout.maximumKeyBytes])
    }

    /// Pages are taken in lots, so that the generation is seldom locked. The first lots are small, because most forks
    /// change few pages.
    private static let lotPages = 8...64
    private static let lotValueBytes = 4_096

    /// Creates a fork of any state. It can be published only if that state is the newest.
    package init(on base: Snapshot) throws {
        self.base = base
        baseEpoch = base.epoch
        epoch = Epochs.next()
        (generation, below, roots) = try Self.start(on: base.top, base.below)
    }

    /// Creates a fork of an unpublished state, which can be published only after that state. The lower fork accepts no
    /// more changes.
    package init(on lower: Fork) throws {
        try lower.requireWhole()
        baseEpoch = lower.epoch
        self.lower = lower
        epoch = Epochs.next()
        if lower.stage == .open {
            lower.stage = .frozen
            lower.giveBackRoom()
        }
        // Or a line of forks would keep all generations and runs since its beginning.
        let below = lower.published.map { lower.below.with($0.below.levels) } ?? lower.below
        let layer = MemoryLayer(lower.generation, epoch: lower.epoch, roots: lower.roots)
        (generation, self.below, roots) = try Self.start(on: layer, below)
    }

    /// The newest published state under this fork, or of it.
    private var published: Snapshot? { base ?? lower?.published }

    /// The state and the fork that publishing releases.
    var under: (Snapshot?, Fork?) { (base, lower) }

    /// Continues a generation, or begins another one if it is full.
    private static func start(
        on layer: MemoryLayer, _ below: Below
    ) throws -> (generation: Generation, below: Below, roots: TreeRoots) {
        guard layer.generation.isFull else { return (layer.generation, below, layer.roots) }
        return (try layer.generation.successor(), below.adding(layer), layer.roots.emptied())
    }

    deinit {
        buffer.deallocate()
        giveBackRoom()
        // The lower fork is released after this, because its pages are reachable from this one.
        if stage != .published { generation.giveBack(taken) }
    }

    private func giveBackRoom() {
        generation.giveBack(values: valueRoom)
        valueRoom = 0..<0
    }

    func requireOpen() throws {
        try requireWhole()
        if stage != .open {
            throw StrataError(.closed, "The fork cannot be changed: it was published, or another fork was made of it.")
        }
    }

    func requireWhole() throws {
        if stage == .failed {
            throw StrataError(.closed, "The fork failed during a change and can only be dropped.")
        }
    }

    /// Runs a change of a tree with valid arguments. If it throws, the pages may be inconsistent.
    @inline(__always)
    func changing<Result>(_ id: TreeID, _ change: (inout TreeRoot) throws -> Result) throws -> Result {
        try requireOpen()
        changeCount += 1
        var root = roots[id]
        root.changed = epoch
        do {
            let result = try change(&root)
            roots[id] = root
            return result
        } catch {
            stage = .failed
            throw error
        }
    }

    /// Hands over the fork's pages. The fork can still be read, and pins its published state until it is dropped.
    ///
    /// - Parameter levels: those of the store, which replace the fork's and the generations that have been flushed.
    func publish(on levels: Levels) throws -> Snapshot {
        try requireWhole()
        if stage == .published { throw StrataError(.closed, "The fork has been published.") }
        stage = .published
        defer { lower = nil }
        giveBackRoom()
        generation.giveBack(available)
        generation.retire(replaced, by: epoch)
        let state = Snapshot(top: MemoryLayer(generation, epoch: epoch, roots: roots), below: below.with(levels))
        base = state
        return state
    }

    // MARK: Pages

    /// A page of this fork, whose bytes are not yet written.
    func newPage() throws -> (number: PageNumber, base: UnsafeMutableRawPointer) {
        if available.isEmpty {
            let lot = min(max(taken.count, Self.lotPages.lowerBound), Self.lotPages.upperBound)
            // Ascending when taken from the end, so that pages created in sequence are neighbors.
            available = try generation.takePages(lot)
            taken += available
        }
        let number = available.removeLast()
        return (number, generation.address(number))
    }

    /// Releases a page that this fork no longer reaches.
    func retire(_ number: PageNumber, birth: UInt64) {
        if birth == epoch { available.append(number) } else { replaced.append(number) }
    }

    /// The form in which a leaf stores a value; writes a long one outside.
    func stored(_ value: UnsafeRawBufferPointer) throws -> StoredValue {
        if value.count <= PageLayout.maximumInlineBytes { return .inline(value) }
        let byteCount = (value.count + ValuePlace.grainBytes - 1) & ~(ValuePlace.grainBytes - 1)
        if valueRoom.count < byteCount {
            giveBackRoom()
            valueRoom = try generation.takeValues(max(byteCount, Self.lotValueBytes))
        }
        let place = ValuePlace(start: valueRoom.lowerBound, byteCount: value.count)
        valueRoom = valueRoom.lowerBound + byteCount..<valueRoom.upperBound
        // Not nil: the value is too long for a leaf.
        generation.valueAddress(place.start).copyMemory(from: value.baseAddress!, byteCount: value.count)
        let stored = UnsafeMutableRawBufferPointer(rebasing: buffer[PageLayout.maximumKeyBytes...])
        // Not nil: it is a part of the buffer.
        place.store(to: stored.baseAddress!)
        return .outside(UnsafeRawBufferPointer(stored))
    }
}
