import StrataModel
import StrataSystem

/// The condition of the states of a store when it was opened. Anything other than ``whole`` only costs time.
package enum StateFinding: String, Sendable, Hashable {
    case whole
    /// The newest state cannot be used, but an older one can.
    case olderState
    /// There is no state.
    case missing
    case damaged
    /// A state of a later release, or of another form of keys and rows.
    case otherForm
    case foreign
    /// The log does not have the position of any state.
    case stale
}

/// A durable state of all trees.
package struct DurableState: Sendable {
    /// The state of the log that it contains.
    package let position: Position
    package let time: Int64
    package let opaque: [UInt8]
    /// The levels that have runs, newest first.
    package let levels: [LevelSize]
    /// The bytes that flushes have written for the store so far, and those that flushes and merges have.
    package let (flushedBytes, writtenBytes): (UInt64, UInt64)

    init(_ file: StateFile) {
        (position, time, opaque) = (file.position, file.time, file.opaque)
        (flushedBytes, writtenBytes) = (file.flushedBytes, file.writtenBytes)
        levels = LevelSize.all(of: file)
    }
}

/// A store of trees that was opened, and the findings.
package struct OpenedTreeStore: Sendable {
    package let store: TreeStore
    /// The state that the store begins with; nil if its trees are empty.
    package let state: DurableState?
    package let finding: StateFinding
    /// The reasons why states could not be used.
    package let reasons: [StrataError]

    /// The same store, which began without a state because one was damaged.
    package func rebuilt(because error: StrataError) -> OpenedTreeStore {
        OpenedTreeStore(store: store, state: nil, finding: .damaged, reasons: [error] + reasons)
    }
}

extension TreeStore {
    /// The directory of the states and runs of a store.
    package static func directory(in store: String) -> String { "\(store)/views" }

    /// The names in that directory; nil if there is none, or the page file of an earlier build in its place.
    package static func fileNames(in path: String, _ files: any FileSystem) throws -> [String]? {
        let directory = directory(in: path)
        guard try files.exists(directory) else { return nil }
        do { return try files.list(directory) } catch let error as StrataError where error.code == .notFound {
            return nil
        }
    }

    /// Returns true if a store has states on disk, usable or not.
    package static func hasStates(in path: String, files: any FileSystem) throws -> Bool {
        try fileNames(in: path, files)?.contains { DurableStates.sequence(of: $0) != nil } ?? false
    }

    /// Removes all files of the states of a store, to make room. The store must not be open for writing.
    package static func removeAll(in path: String, files: any FileSystem) throws {
        let directory = directory(in: path)
        guard let names = try fileNames(in: path, files) else {
            // The page file of an earlier build.
            if try files.exists(directory) { try files.remove(directory) }
            return
        }
        try discardStates(in: path, files: files)
        try files.removeEach(names.filter { DurableStates.sequence(of: $0) == nil }, in: directory)
        try files.syncDirectory(directory)
    }

    /// Removes the states of a store, whose files were found damaged. Open files stay readable.
    package static func discardStates(in path: String, files: any FileSystem) throws {
        guard let names = try fileNames(in: path, files) else { return }
        let directory = directory(in: path)
        try files.removeEach(names.filter { DurableStates.sequence(of: $0) != nil }, in: directory)
        try files.syncDirectory(directory)
    }

    /// Opens the trees of a store for writing, or begins with empty ones if no state is usable, which is not an error.
    /// Nothing is removed before the first state is written, except if no state is usable and all can be read: then the
    /// files that none names, which processes leave that end while they fold.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    /// - Throws: errors of `isValid`, or ``StrataError`` if the directory cannot be created, or a file cannot be read
    ///   for a reason other than damage.
    package static func open(
        in path: String, _ owner: RunOwner, hashed: Set<TreeID>, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions(), isValid: (Position) throws -> Bool
    ) throws -> OpenedTreeStore {
        let directory = directory(in: path)
        if try !platform.files.exists(directory) {
            try platform.files.makeDirectory(directory)
            try platform.files.syncDirectory(path)
        }
        var search = try StateSearch(directory, owner, platform.files)
        let found = try search.newest(upTo: .max, isValid)
        if found == nil, search.decoded.count == search.sequences.count {
            try? DurableStates.removeFiles(in: directory, platform.files, notNamedBy: search.decoded, .none)
        }
        let durable = DurableStates(
            directory: directory, platform: platform, owner: owner, maximumKept: options.maximumKeptStates,
            newest: found?.file, kept: try found.map { try search.older(than: $0.file) } ?? [],
            lastSequence: search.lastSequence)
        let newest = try newest(of: found?.levels ?? .none, roots: found?.roots ?? TreeRoots(), options: options)
        let store = TreeStore(
            newest: newest, nextNumber: search.nextNumber, durable: durable,
            home: RunHome(place: .directory(directory, platform.files)), owner: owner, hashed: hashed,
            options: options)
        return OpenedTreeStore(
            store: store, state: found.map { DurableState($0.file) }, finding: search.finding(found?.file),
            reasons: search.reasons)
    }
}
