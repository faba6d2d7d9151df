import StrataModel

/// A private writable copy of a snapshot. Creating it costs nothing, and dropping it undoes everything.
///
/// Used by one thread at a time. A change with valid arguments may still throw halfway, because there is no room or a
/// page is damaged. The fork then rejects all calls, and can only be dropped.
///
/// ```swift
/// let fork = store.fork()
/// try fork.put(records, key, value)
/// try store.publish(fork)
/// ```
@usableFromInline
package final class Fork {
    let core: PageCore
    /// Keeps the pages that this fork can reach from being reused: the state it was made on, or the state it was
    /// published as. Forks on this one keep it alive through this one.
    private var base: Snapshot
    /// The epoch that must be the newest when this fork is published.
    let baseEpoch: UInt64
    /// The fork that this one was made on, until this one is published.
    private var lower: Fork?
    let epoch: UInt64
    var roots: TreeRoots
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
    private var hasLoans = false
    /// True if entries arrive in ascending order, in any part of the tree: a page that is split then stays full before
    /// a new entry.
    package var fillsPages = false

    /// Pages that are lent and unused. Some have a slot of the arena from an earlier use by this fork.
    private var available: [PageNumber] = []
    /// Lent and unused runs, by their number of pages.
    private var availableRuns: [Int: [PageRun]] = [:]
    private var retired: [RetiredRun] = []
    /// The path from the root to a leaf, all of whose pages belong to this fork.
    let path = TreePath()
    /// The tree whose root and leaf ``path`` still connects after the last change.
    var nearTree: TreeID?
    let content = PageContent()
    let separatorBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PageLayout.maximumKeyBytes, alignment: 8)

    /// Pages are borrowed in lots, so that the ledger is seldom locked. The first lots are small, because unused pages
    /// are returned and most forks change few pages.
    private static let lotPages = 8...64
    private var lentPages = 0

    /// Creates a fork of any state. It can be published only if that state is the newest.
    package init(on base: Snapshot) {
        self.base = base
        baseEpoch = base.epoch
        core = base.core
        epoch = core.nextEpoch()
        roots = base.roots
    }

    /// Creates a fork of an unpublished state, which can be published only after that state. The lower fork accepts no
    /// more changes.
    package init(on lower: Fork) {
        base = lower.base
        baseEpoch = lower.epoch
        self.lower = lower
        core = lower.core
        epoch = core.nextEpoch()
        roots = lower.roots
        if lower.stage == .open { lower.stage = .frozen }
        if lower.stage == .failed { stage = .failed }
    }

    deinit {
        separatorBuffer.deallocate()
        // The lower fork is released after this, because its pages are reachable from this one.
        if stage != .published, hasLoans { core.withLedger { [epoch] ledger in ((), ledger.takeBackLoans(of: epoch)) } }
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

    /// Runs a change with valid arguments. If it throws, the pages may be inconsistent.
    @inline(__always)
    func changing<Result>(_ change: () throws -> Result) throws -> Result {
        try requireOpen()
        changeCount += 1
        nearTree = nil
        do {
            return try change()
        } catch {
            if stage != .published { stage = .failed }
            throw error
        }
    }

    /// Runs a change that accesses pages.
    @inline(__always)
    func changingPages<Result>(_ change: () throws -> Result) throws -> Result {
        try changing {
            try core.memory.reading(change)
        }
    }

    /// Hands over the fork's pages. The fork can still be read, and pins its published state until it is dropped.
    ///
    /// - Parameter branch: takes the pages if they do not belong to the store.
    func publish(to branch: BranchPages? = nil) throws -> Snapshot {
        try requireWhole()
        if stage == .published { throw StrataError(.closed, "The fork has been published.") }
        stage = .published
        defer { lower = nil }
        let unused = available.map { PageRun(first: $0, count: 1) } + availableRuns.values.joined()
        let retired = branch?.take(core.lent(to: epoch), unused: unused, retired, birth: epoch) ?? retired
        core.withLedger { [epoch] ledger in
            ledger.pin(epoch)
            return ((), ledger.publish(fork: epoch, unused: unused, retired: retired))
        }
        base = Snapshot(core: core, epoch: epoch, roots: roots, of: branch)
        return base
    }

    // MARK: Pages

    /// A page of this fork, whose bytes are not yet written.
    func newPage() throws -> (number: PageNumber, base: UnsafeMutableRawPointer) {
        if available.isEmpty {
            hasLoans = true
            let lot = min(max(lentPages, Self.lotPages.lowerBound), Self.lotPages.upperBound)
            available = try core.withLedger { [epoch] ledger in (try ledger.lend(lot, to: epoch), []) }
            lentPages += lot
            // Ascending when taken from the end, so that pages created in sequence have consecutive numbers.
            available.reverse()
        }
        let number = available.removeLast()
        if core.memory.isInArena(number) { return (number, core.memory.slot(of: number)) }
        do { return (number, try core.memory.takeSlot(for: number)) } catch {
            available.append(number)
            throw error
        }
    }

    /// Releases a page that this fork no longer reaches.
    func retire(_ number: PageNumber, birth: UInt64) {
        if birth == epoch {
            available.append(number)
        } else {
            retired.append(RetiredRun(run: PageRun(first: number, count: 1), birth: birth, retired: epoch))
        }
    }

    // MARK: Overflow

    /// The form in which a leaf stores a value; writes overflow pages if necessary.
    func stored(_ value: UnsafeRawBufferPointer) throws -> StoredValue {
        if value.count <= PageLayout.maximumInlineBytes { return .inline(value) }
        let count = PageLayout.overflowPages(value.count)
        hasLoans = true
        let run: PageRun
        if let known = availableRuns[count]?.popLast() {
            run = known
        } else {
            run = try core.withLedger { [epoch] ledger in (try ledger.lendRun(count, to: epoch), []) }
        }
        var place = 0
        for number in run.range {
            let base: UnsafeMutableRawPointer
            do {
                let isKnown = core.memory.isInArena(number)
                base = isKnown ? core.memory.slot(of: number) : try core.memory.takeSlot(for: number)
            } catch {
                availableRuns[count, default: []].append(run)
                throw error
            }
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            PageEditor(base).start(.overflow, level: 0, number: number, birth: epoch, prefix: none)
            let bytes = min(PageLayout.overflowBytesPerPage, value.count - place)
            // Not nil: the value is too long for a leaf.
            (base + PageLayout.headerBytes).copyMemory(from: value.baseAddress! + place, byteCount: bytes)
            place += bytes
        }
        return .overflow(OverflowReference(first: run.first, byteCount: value.count))
    }

    func retireOverflow(_ reference: OverflowReference) throws {
        let run = PageRun(first: reference.first, count: reference.pageCount)
        let birth = try core.memory.page(reference.first).birth
        if birth == epoch {
            availableRuns[run.count, default: []].append(run)
        } else {
            retired.append(RetiredRun(run: run, birth: birth, retired: epoch))
        }
    }
}
