import StrataLog
import StrataModel
import StrataSystem
import StrataViews

/// The stores that this process has open: one engine for each, regardless of the path used.
final class StoreTable: Sendable {
    static let shared = StoreTable()

    private enum Entry {
        /// A thread is opening or closing it.
        case busy
        // The file stays open until the entry is gone, so that no other file can get its identity.
        case open(StoreEngine, handles: Int, any File)
    }

    private struct State {
        var entries: [FileIdentity: Entry] = [:]
        /// True while a thread is creating a store, which has no identity yet.
        var isMaking = false
    }

    private let state = Monitor(State())

    /// A log that this process has opened, and its store's `STORE` file.
    private struct Opened {
        let log: any EventLog
        let segments: SegmentedLog
        let file: any File
        let identity: FileIdentity
    }

    /// One handle's share in an engine.
    struct Lease: Sendable {
        let engine: StoreEngine
        let identity: FileIdentity
    }

    /// Returns the engine of the store at a path, which is opened or created if no handle has it.
    func lease(
        at path: String, _ options: StoreOptions, _ platform: Platform, _ progress: (Replay.Progress) -> Void
    ) throws -> Lease {
        let paths = StorePaths(path)
        while true {
            let opened: Opened
            if try platform.files.exists(paths.identity) {
                let file = try platform.files.open(paths.identity, .read)
                let identity = try file.identity()
                if let engine = try join(identity, options, path) {
                    return Lease(engine: engine, identity: identity)
                }
                let log = try reserving(identity) { try options.openLog(at: path, platform) }
                opened = Opened(log: log.log, segments: log.segments, file: file, identity: identity)
            } else if let made = try make(paths, options, platform) {
                opened = made
            } else {
                continue
            }
            return try reserving(opened.identity) {
                let engine = try StoreEngine.open(
                    opened.log, in: opened.segments, at: path, options, opened.segments.platform,
                    progress: progress)
                set(opened.identity, .open(engine, handles: 1, opened.file))
                return Lease(engine: engine, identity: opened.identity)
            }
        }
    }

    /// Returns a share in the engine that this process has open for writing; nil if it has none.
    func leaseForReading(at path: String, _ platform: Platform) throws -> Lease? {
        let paths = StorePaths(path)
        guard try platform.files.exists(paths.identity) else { return nil }
        let identity = try platform.files.open(paths.identity, .read).identity()
        return state.wait { state -> Lease?? in
            switch state.entries[identity] {
            case .busy: return nil
            case nil: return .some(nil)
            case .open(let engine, let handles, let file):
                state.entries[identity] = .open(engine, handles: handles + 1, file)
                return Lease(engine: engine, identity: identity)
            }
        }
    }

    /// Gives a share back; the last one closes the engine.
    func giveBack(_ lease: Lease) throws {
        let last = state.withLock { state -> (any File)? in
            guard case .open(let engine, let handles, let file)? = state.entries[lease.identity] else { return nil }
            state.entries[lease.identity] = handles == 1 ? .busy : .open(engine, handles: handles - 1, file)
            return handles == 1 ? file : nil
        }
        guard let last else { return }
        // IMPORTANT: the store's files may have been removed. Without this file, the system could give its identity to
        // the file of another store, whose entry would then be cleared here.
        defer { withExtendedLifetime(last) { set(lease.identity, nil) } }
        try lease.engine.close()
    }

    /// Returns the engine that is already open; nil if the caller must open it, with the entry reserved for the caller.
    private func join(_ identity: FileIdentity, _ options: StoreOptions, _ path: String) throws -> StoreEngine? {
        try state.wait { state -> StoreEngine?? in
            if state.isMaking { return nil }
            switch state.entries[identity] {
            case .busy: return nil
            case nil:
                state.entries[identity] = .busy
                return .some(nil)
            case .open(let engine, let handles, let file):
                let differences = options.differences(from: engine.options)
                guard differences.isEmpty else {
                    throw StrataError(
                        .invalidArgument, "This process has already opened the store with other options.",
                        .init(
                            path: path, expected: "the same options",
                            found: "other values of " + differences.joined(separator: ", ")))
                }
                state.entries[identity] = .open(engine, handles: handles + 1, file)
                return engine
            }
        }
    }

    /// Creates a store while no other thread of this process does; returns nil if another thread was faster.
    private func make(
        _ paths: StorePaths, _ options: StoreOptions, _ platform: Platform
    ) throws -> Opened? {
        state.wait { state -> Void? in
            if state.isMaking { return nil }
            state.isMaking = true
            return ()
        }
        defer {
            state.withLock { $0.isMaking = false }
            state.notifyAll()
        }
        if try platform.files.exists(paths.identity) { return nil }
        let (log, segments) = try options.openLog(at: paths.store, platform)
        do {
            let file = try platform.files.open(paths.identity, .read)
            let identity = try file.identity()
            set(identity, .busy)
            return Opened(log: log, segments: segments, file: file, identity: identity)
        } catch {
            try? log.close()
            throw error
        }
    }

    /// Frees the reserved entry if the body fails.
    private func reserving<Result>(_ identity: FileIdentity, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            set(identity, nil)
            throw error
        }
    }

    private func set(_ identity: FileIdentity, _ entry: Entry?) {
        let old = state.withLock { state in
            defer { state.entries[identity] = entry }
            return state.entries[identity]
        }
        state.notifyAll()
        // Outside the lock: releasing the old entry may run deinitializers.
        _ = old
    }
}
