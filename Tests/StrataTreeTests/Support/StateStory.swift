import StrataModel
import StrataSystem
import TestSupport

@testable import StrataTree

/// Rounds of changes, each of which is flushed as a state of its own and merged now and then.
struct StateStory {
    static let path = "/s"
    static let id = TreeTrial.ids[0]

    let disk: SimulatedDisk
    let options: TreeStoreOptions
    private(set) var store: TreeStore
    private var entries: EntryGenerator
    private var model = TreeModel()
    /// The entries that the state at an offset must have, from before it is flushed.
    private(set) var models: [UInt64: TreeModel] = [0: TreeModel()]
    /// The offset of the last state whose flush has returned.
    private(set) var flushed: UInt64 = 0
    /// The offset of the last changes.
    private(set) var round: UInt64 = 0
    private(set) var mergeSteps = 0

    /// - Parameter files: those of the disk, perhaps with a fault of their own; nil for the disk itself.
    init(
        seed: UInt64, on disk: SimulatedDisk = SimulatedDisk(), through files: (any FileSystem)? = nil,
        options: TreeStoreOptions = TreeTrial.options
    ) throws {
        self.disk = disk
        self.options = options
        entries = EntryGenerator(.text, seed: seed)
        try disk.makeDirectory(Self.path)
        store = try Self.open(files ?? disk, options).store
    }

    static func open(
        _ files: any FileSystem, _ options: TreeStoreOptions = TreeTrial.options
    ) throws -> OpenedTreeStore {
        try TreeStore.open(
            in: path, TreeTrial.owner, hashed: TreeTrial.hashed, platform: Platform(files: files), options: options
        ) { _ in true }
    }

    /// Changes some entries in memory.
    mutating func change(_ count: Int = 60) throws {
        let fork = try store.fork()
        for number in 0..<count {
            let known = model.sortedKeys.randomElement(using: &entries.random)
            if number % 4 == 0, let known {
                try fork.delete(Self.id, known)
                model[known] = nil
            } else {
                let (key, value) = (entries.key(), entries.value())
                try fork.put(Self.id, key, value)
                model[key] = value
            }
        }
        try store.publish(fork)
        round += 1
        models[round] = model
        try store.freeze()
    }

    /// Flushes what was changed, and merges.
    mutating func write() throws {
        while let waiting = store.nextToFlush() {
            try store.flush(waiting, at: Position(offset: round, chain: UInt32(round)), opaque: [1])
        }
        flushed = round
        while try store.mergeStep(isAtRest: round % 3 == 0) { mergeSteps += 1 }
    }

    /// The entries that the store must have now.
    var expected: [[[UInt8]]] { model.sortedKeys.map { [$0, model[$0] ?? []] } }

    /// The files of the store that no state names.
    static func unnamedFiles(_ store: TreeStore, on disk: SimulatedDisk) throws -> [String] {
        let named = names(in: store.durable.withLock { $0.kept + [$0.newest].compactMap(\.self) })
        return try disk.list(path + "/views").filter { !$0.hasPrefix("state-") && !named.contains($0) }
    }

    private static func names(in states: [StateFile]) -> Set<String> {
        let pieces = states.flatMap(\.runs).flatMap(\.pieces).map { "\($0.number).run" }
        return Set(pieces + states.flatMap(\.blobs).map { "\($0.number).blob" })
    }

    /// True if a state on disk names a file.
    static func isNamed(_ path: String, on disk: SimulatedDisk) -> Bool {
        func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
        let states = disk.paths.filter { DurableStates.sequence(of: name($0)) != nil }
        let files = states.compactMap { path in (try? disk.content(of: path)).flatMap { try? StateFile.decode($0) } }
        return names(in: files).contains(name(path))
    }
}
