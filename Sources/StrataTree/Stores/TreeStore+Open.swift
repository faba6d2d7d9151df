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
        if found == nil, let states = search.all {
            try? DurableStates.removeFiles(in: directory, platform.files, notNamedBy: states, .none)
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

/// Looks for usable states in a directory.
struct StateSearch {
    /// A state whose files are open.
    struct Found {
        let file: StateFile
        let levels: Levels
        let roots: TreeRoots
    }

    private let directory: String
    private let owner: RunOwner
    private let files: any FileSystem
    /// In descending order.
    let sequences: [UInt64]
    /// The number of the next file: no file has it or a higher one, and no state that can be read names one.
    private(set) var nextNumber: UInt64
    private(set) var reasons: [StrataError] = []
    private var findings: [StateFinding] = []

    var lastSequence: UInt64 { sequences.first ?? 0 }

    init(_ directory: String, _ owner: RunOwner, _ files: any FileSystem) throws {
        (self.directory, self.owner, self.files) = (directory, owner, files)
        let names = try files.list(directory)
        sequences = names.compactMap(DurableStates.sequence).sorted(by: >)
        let numbers = names.flatMap { name in RunHome.Use.allCases.compactMap { RunHome.number(of: name, $0) } }
        nextNumber = (numbers.max() ?? 0) + 1
    }

    /// Returns the newest usable state up to an offset; nil if there is none.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    mutating func newest(upTo offset: UInt64, _ isValid: (Position) throws -> Bool) throws -> Found? {
        for sequence in sequences {
            guard let state = try usable({ try $0.read(sequence) }) else { continue }
            nextNumber = max(nextNumber, state.nextNumber)
            guard state.position.offset <= offset else { continue }
            guard try isValid(state.position) else {
                findings.append(.stale)
                reasons.append(
                    StrataError(
                        .brokenChain, "The log does not have the position of a state of the views.",
                        .init(path: directory, found: "\(state.position)")))
                continue
            }
            if let found = try usable({ try $0.open(state) }) { return found }
        }
        return nil
    }

    /// Returns nil, and notes the reason, if a state cannot be used.
    ///
    /// - Throws: errors that say nothing about the state. It would be removed if they passed for its damage.
    private mutating func usable<Result>(_ body: (StateSearch) throws -> Result) throws -> Result? {
        do { return try body(self) } catch let error as StrataError {
            guard let finding = Self.finding(error) else { throw error }
            findings.append(finding)
            reasons.append(error)
            return nil
        }
    }

    /// The finding about the state that was read when an error was thrown; nil if the error is not about the state.
    static func finding(_ error: StrataError) -> StateFinding? {
        switch error.code {
        case .newerFormat: .otherForm
        case .foreignSegment: .foreign
        case .notFound, .malformed, .badChecksum, .wrongMagic: .damaged
        // A frame could not be read.
        default: error.context.page == nil ? nil : .damaged
        }
    }

    private func read(_ sequence: UInt64) throws -> StateFile {
        let path = DurableStates.path(directory, sequence)
        let state = try StateFile.decode(try files.readAll(path, atMost: StateFile.maximumBytes))
        guard state.sequence == sequence else {
            throw StrataError(
                .malformed, "A state of the views has another sequence than its name.",
                .init(path: path, expected: "\(sequence)", found: "\(state.sequence)"))
        }
        guard state.store == owner.store else {
            throw StrataError(
                .foreignSegment, "A state of the views belongs to another store.",
                .init(path: path, expected: "\(owner.store)", found: "\(state.store)"))
        }
        guard state.form == owner.form else {
            throw StrataError(
                .newerFormat, "A state of the views has the form of another release.",
                .init(path: path, expected: "form \(owner.form)", found: "\(state.form)"))
        }
        return state
    }

    /// Opens the files that a state names, but for those that another one has open.
    func open(_ state: StateFile, sharing other: Levels = .none) throws -> Found {
        let known = Dictionary(other.runs.lazy.flatMap(\.run.pieces).map { ($0.descriptor.number, $0) }) { $1 }
        var blobs: [UInt64: BlobFile] = [:]
        for blob in state.blobs {
            if let open = other.blobs[blob.number], open.byteCount == blob.byteCount {
                blobs[blob.number] = open
                continue
            }
            let file = try files.open(RunHome.path(directory, blob.number, .blob), .read)
            blobs[blob.number] = try BlobFile(file, number: blob.number, byteCount: blob.byteCount)
        }
        let runs = try state.runs.map { description in
            let pieces = try description.pieces.map {
                if let open = known[$0.number], open.descriptor == $0 { return open }
                return try Piece(try files.open(RunHome.path(directory, $0.number, .piece), .read), $0, owner)
            }
            return LeveledRun(
                run: try Run(pieces, visibleFrom: description.visibleFrom), level: description.level)
        }
        var roots = TreeRoots()
        for tree in state.trees {
            roots[tree.id] = TreeRoot(foldedOffset: tree.foldedOffset, changed: Epochs.next())
        }
        return Found(file: state, levels: Levels(runs, blobs: blobs, keyHash: owner.keyHash), roots: roots)
    }

    /// The readable states before one that was found, in ascending order.
    func older(than state: StateFile) throws -> [StateFile] {
        try sequences.filter { $0 < state.sequence }.reversed().compactMap { sequence in
            do { return try read(sequence) } catch let error as StrataError where Self.finding(error) != nil {
                return nil
            }
        }
    }

    /// All states, usable or not; nil if one cannot be read.
    var all: [StateFile]? {
        let states = sequences.compactMap { sequence in
            let bytes = try? files.readAll(DurableStates.path(directory, sequence), atMost: StateFile.maximumBytes)
            return bytes.flatMap { try? StateFile.decode($0) }.flatMap { $0.sequence == sequence ? $0 : nil }
        }
        return states.count == sequences.count ? states : nil
    }

    func finding(_ found: StateFile?) -> StateFinding {
        if found != nil { return reasons.isEmpty ? .whole : .olderState }
        let order: [StateFinding] = [.otherForm, .foreign, .stale, .damaged]
        return order.first { findings.contains($0) } ?? .missing
    }
}
