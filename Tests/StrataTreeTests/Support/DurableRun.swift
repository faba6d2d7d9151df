import StrataModel
import StrataSystem
import TestSupport

@testable import StrataTree

/// A store on a simulated disk, what it must hold, and a log that is only offsets and chain values.
final class DurableRun {
    static let directory = "/store"
    static let tree = TreeID(rawValue: 3)
    static let storeID = Identifier(high: 7, low: 9)

    let disk: SimulatedDisk
    var options: PageStoreOptions
    var entries: EntryGenerator
    private(set) var store: PageStore
    var model = TreeModel()
    /// What each offset's state holds.
    private(set) var states: [UInt64: TreeModel] = [0: TreeModel()]
    /// Which chain value the log has at an offset.
    private(set) var log: [UInt64: UInt32] = [:]
    var offset: UInt64 = 0
    /// Of checkpoints that were written without an error.
    private(set) var acknowledged: [UInt64] = []
    /// Of the one that is being written.
    private(set) var inFlight: UInt64?
    /// Of a checkpoint that failed and may be there all the same.
    private var uncertain: UInt64?
    var snapshots: [Snapshot] = []
    /// Called after each checkpoint, to break a rule.
    var didCheckpoint: (Checkpoints) -> Void = { _ in }

    static var smallOptions: PageStoreOptions {
        PageStoreOptions(maximumPages: 1 << 18, maximumArenaPages: 1 << 16, pace: { _ in })
    }

    /// Both ways to read pages; the cache is so small that its frames are reused all the time.
    static let accesses: [PageAccess] = [.map, .read(cachedPages: 8)]

    init(seed: UInt64, shape: EntryGenerator.Shape = .text, options: PageStoreOptions = smallOptions) throws {
        disk = SimulatedDisk()
        self.options = options
        entries = EntryGenerator(shape, seed: seed)
        try disk.makeDirectory(Self.directory)
        store = try Self.open(disk, options, [:]).store
    }

    static func open(
        _ disk: SimulatedDisk, _ options: PageStoreOptions, _ log: [UInt64: UInt32], checksChain: Bool = true
    ) throws -> OpenedPageStore {
        try PageStore.open(
            in: directory, store: storeID, platform: Platform(files: disk), options: options
        ) { !checksChain || log[$0.offset] == $0.chain }
    }

    /// - Parameter checksChain: True to require that the log has the state of each checkpoint.
    func reopen(checksChain: Bool = true) throws -> OpenedPageStore {
        snapshots = []
        let opened = try Self.open(disk, options, log, checksChain: checksChain)
        store = opened.store
        offset = opened.checkpoint?.position.offset ?? 0
        model = states[offset] ?? TreeModel()
        return opened
    }

    var position: Position { Position(offset: offset, chain: log[offset] ?? 0) }

    /// One batch, published as the next offset.
    func step(changes: Int = 30, timeline: UInt32 = 1) throws {
        let fork = store.fork()
        for _ in 0..<changes { try change(fork) }
        try publish(fork, timeline: timeline)
    }

    private func publish(_ fork: Fork, timeline: UInt32 = 1) throws {
        try store.publish(fork)
        offset += 1
        states[offset] = model
        log[offset] = UInt32(truncatingIfNeeded: offset &* 2_654_435_761) ^ timeline
    }

    private func change(_ fork: Fork) throws {
        switch Int.random(in: 0..<20, using: &entries.random) {
        case 0..<6:
            guard let key = model.sortedKeys.randomElement(using: &entries.random) else { return }
            try fork.delete(Self.tree, key)
            model[key] = nil
        default:
            let (key, value) = (entries.key(), entries.value())
            try fork.put(Self.tree, key, value)
            model[key] = value
        }
    }

    func checkpoint() throws {
        inFlight = offset
        try store.checkpoint(store.snapshot(), at: position, opaque: Array("\(offset)".utf8))
        if let checkpoints = store.checkpoints { didCheckpoint(checkpoints) }
        acknowledged.append(offset)
        inFlight = nil
    }

    /// Goes on with another store that holds the same.
    func adopt(_ other: PageStore) { store = other }

    /// A state with only the first so many entries.
    func empty(keeping count: Int) throws {
        let fork = store.fork()
        if model.count > count {
            let first = model.sortedKeys[count]
            try fork.deleteKeys(Self.tree, from: first, to: nil)
            model.removeRange(from: first, to: nil)
        }
        try publish(fork)
    }

    /// A state with long values on at least so many pages, in a checkpoint.
    func fill(pages: Int) throws {
        let fork = store.fork()
        let value = [UInt8](repeating: 5, count: 200 * PageLayout.overflowBytesPerPage)
        for index in 0..<(pages + 199) / 200 {
            let key = Array("long \(index)".utf8)
            try fork.put(Self.tree, key, value)
            model[key] = value
        }
        try publish(fork)
        try checkpoint()
    }

    /// What opening may find now: the newest checkpoint, or the one that is being written.
    var acceptable: Set<UInt64?> {
        var offsets: Set<UInt64?> = [acknowledged.last]
        for offset in [inFlight, uncertain] where offset != nil { offsets.insert(offset) }
        return offsets
    }

    func acceptsAlso(_ offset: UInt64) { uncertain = offset }

    /// The tail of the log is lost, and grows again otherwise or alike.
    func loseTail(to offset: UInt64) {
        for lost in log.keys where lost > offset { log[lost] = nil }
    }

    // MARK: Judging

    /// What is wrong with a disk that a crash left.
    func faults(of disk: SimulatedDisk, acceptable: Set<UInt64?>) throws -> [String] {
        let copy = disk.afterPowerLoss(seed: 0, keeping: .everything)
        let opened = try Self.open(disk, options, log)
        let offset = opened.checkpoint?.position.offset
        guard acceptable.contains(offset) else {
            return ["opened at \(String(describing: offset)), \(opened.finding), not at \(acceptable)"]
        }
        var faults = try faults(of: opened)
        // The checkpoint in the other slot must be whole as well.
        let slots = opened.store.checkpoints?.state.withLock { $0 }
        if let slots, let newest = slots.newestIndex, let other = slots.slots[1 - newest].header {
            let path = PageStore.viewsPath(Self.directory)
            try copy.overwrite(path, at: newest * PageLayout.pageBytes + 100, with: [1])
            let older = try Self.open(copy, options, log)
            if older.checkpoint?.position != other.position {
                faults.append("the older checkpoint cannot be opened: \(older.finding)")
            }
            faults += try self.faults(of: older).map { "older: " + $0 }
        }
        return faults
    }

    func faults(of opened: OpenedPageStore) throws -> [String] {
        let snapshot = opened.store.snapshot()
        let model = states[opened.checkpoint?.position.offset ?? 0] ?? TreeModel()
        do {
            var faults: [String] = []
            let expected = model.sortedKeys.map { [$0, model[$0] ?? []] }
            if try snapshot.entries(Self.tree) != expected { faults.append("other entries than at the checkpoint") }
            return faults + (try TreeChecker.faults(of: opened.store, holding: [snapshot]))
        } catch {
            return ["\(error)"]
        }
    }
}
