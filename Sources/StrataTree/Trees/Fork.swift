import StrataModel
import StrataSystem

/// A private writable copy of a snapshot. Making one costs nothing, dropping it undoes everything.
///
/// Used by one thread at a time. A change that throws after its arguments were found good, because there is no room or
/// a page is damaged, may have been made by half: the fork then refuses everything, and can only be dropped.
///
/// ```swift
/// let fork = store.fork()
/// try fork.put(records, key, value)
/// try store.publish(fork)
/// ```
public final class Fork {
    let core: PageCore
    /// Keeps what this fork can reach from being used again: what it was made on, or what it was published as. Forks on
    /// this one hold it through this one.
    private var base: Snapshot
    /// What must be the newest state when this fork is published.
    let baseEpoch: UInt64
    /// The fork that this one was made on, until that is published.
    private var lower: Fork?
    let epoch: UInt64
    var roots: TreeRoots
    /// Grows with every change, so that cursors notice.
    private(set) var changeCount = 0
    private enum Stage {
        case open
        /// Another fork was made on it.
        case frozen
        case published
        /// An error came in the middle of a change.
        case failed
    }

    private var stage = Stage.open
    private var hasLoans = false
    /// Whether entries come in ascending order, wherever they go: a page that is split then stays full in front of a
    /// new entry.
    public var fillsPages = false

    /// Lent and not in use. Some have a slot of the arena from an earlier use by this fork.
    private var available: [PageNumber] = []
    /// By how many pages they have.
    private var availableRuns: [Int: [PageRun]] = [:]
    private var retired: [RetiredRun] = []
    /// From the root to a leaf; all its pages are this fork's own.
    let path = TreePath()
    let content = PageContent()
    let separatorBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PageLayout.maximumKeyBytes, alignment: 8)

    /// Pages are asked for in lots, so that the ledger is seldom locked; small ones first, since what is not used goes
    /// back, and most forks change few pages.
    private static let lotPages = 8...64
    private var lentPages = 0

    /// A fork of any state; only one of the newest can be published.
    public init(on base: Snapshot) {
        self.base = base
        baseEpoch = base.epoch
        core = base.core
        epoch = core.nextEpoch()
        roots = base.roots
    }

    /// A fork of a state that is not published yet: it can only be published after that. The lower fork changes no
    /// more.
    public init(on lower: Fork) {
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
        // The lower fork goes afterwards: its pages are reachable from this one.
        if stage != .published, hasLoans { core.withLedger { [epoch] ledger in ((), ledger.takeBackLoans(of: epoch)) } }
    }

    func requireOpen() throws {
        try requireWhole()
        if stage != .open {
            throw StrataError(.closed, "The fork changes no more: it was published, or another was made on it.")
        }
    }

    func requireWhole() throws {
        if stage == .failed {
            throw StrataError(.closed, "The fork failed in the middle of a change, and can only be dropped.")
        }
    }

    /// Makes a change whose arguments are good. If it throws, pages may not fit together any more.
    @inline(__always)
    func changing<Result>(_ change: () throws -> Result) throws -> Result {
        try requireOpen()
        changeCount += 1
        do {
            return try change()
        } catch {
            if stage != .published { stage = .failed }
            throw error
        }
    }

    /// A change that follows page numbers to memory.
    @inline(__always)
    func changingPages<Result>(_ change: () throws -> Result) throws -> Result {
        try changing {
            try core.memory.reading(change)
        }
    }

    /// Hands its pages over; it can still be read, and pins what it was published as until it is dropped.
    ///
    /// - Parameter branch: takes them, if they are not the store's.
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

    /// A page of this fork's own, whose bytes are yet to be written.
    func newPage() throws -> (number: PageNumber, base: UnsafeMutableRawPointer) {
        if available.isEmpty {
            hasLoans = true
            let lot = min(max(lentPages, Self.lotPages.lowerBound), Self.lotPages.upperBound)
            available = try core.withLedger { [epoch] ledger in (try ledger.lend(lot, to: epoch), []) }
            lentPages += lot
            // In ascending order from the end, so that pages made one after the other follow one another.
            available.reverse()
        }
        let number = available.removeLast()
        if core.memory.isInArena(number) { return (number, core.memory.slot(of: number)) }
        do { return (number, try core.memory.takeSlot(for: number)) } catch {
            available.append(number)
            throw error
        }
    }

    /// This fork does not reach the page any more.
    func retire(_ number: PageNumber, birth: UInt64) {
        if birth == epoch {
            available.append(number)
        } else {
            retired.append(RetiredRun(run: PageRun(first: number, count: 1), birth: birth, retired: epoch))
        }
    }

    // MARK: Overflow

    /// Stores a value the way a leaf keeps it.
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
            // Not nil: the value has more bytes than fit a leaf.
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
