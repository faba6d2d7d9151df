import StrataModel
import StrataSystem

/// The content of a state beside its runs.
struct StateDescription: Sendable {
    var position: Position
    var opaque: [UInt8]
    var trees: [(id: TreeID, foldedOffset: UInt64)]
    /// The offset before which the log has no position, so that states there are of no use.
    var floor: UInt64 = 0
}

/// Writes the states of a store, and removes the files that no state names any more. Does nothing for a store whose
/// files end with it.
struct DurableStates: Sendable {
    /// The directory of the files; nil if they end with the store.
    private let directory: String?
    private let files: any FileSystem
    private let time: any TimeSource
    private let store: Identifier
    private let form: UInt16
    private let maximumKept: Int
    /// The state that opening takes; nil if there is none.
    private(set) var newest: StateFile?
    /// The highest sequence of a state in the directory, usable or not.
    private var lastSequence: UInt64
    /// Older states that past states begin with, in ascending order.
    private(set) var kept: [StateFile]

    init(
        directory: String?, platform: Platform, owner: RunOwner, maximumKept: Int, newest: StateFile? = nil,
        kept: [StateFile] = [], lastSequence: UInt64 = 0
    ) {
        self.directory = directory
        files = platform.files
        time = platform.time
        store = owner.store
        form = owner.form
        self.maximumKept = maximumKept
        self.newest = newest
        self.kept = kept
        self.lastSequence = lastSequence
    }

    /// The end of the name of a state that is being written (``FileSystem/replace(_:in:with:isPrivate:)``).
    private static let draftSuffix = ".new"

    static func path(_ directory: String, _ sequence: UInt64) -> String {
        let digits = "\(sequence)"
        return "\(directory)/state-\(String(repeating: "0", count: max(0, 16 - digits.utf8.count)))\(digits)"
    }

    /// The sequence in the name of a state; nil for other files.
    static func sequence(of name: String) -> UInt64? { NumberedName.state.number(in: name) }

    /// Makes a state durable, whose files have been synced.
    ///
    /// - Parameter isMerged: true if the files that the last state does not have were written by a merge.
    mutating func write(
        _ description: StateDescription, _ levels: Levels, nextNumber: UInt64, isMerged: Bool = false
    ) throws {
        guard let directory else { return }
        if let newest, description.position.offset < newest.position.offset {
            throw StrataError(
                .invalidArgument, "A durable state must not be older than the last one.",
                .init(
                    path: directory, expected: "offset \(newest.position.offset) or later",
                    found: "\(description.position)"))
        }
        var state = StateFile(
            sequence: lastSequence + 1, store: store, form: form, position: description.position,
            time: time.nowMicroseconds(), nextNumber: nextNumber, flushedBytes: newest?.flushedBytes ?? 0,
            writtenBytes: newest?.writtenBytes ?? 0, opaque: description.opaque, trees: description.trees,
            runs: levels.runs.map(RunDescriptor.init), blobs: levels.blobDescriptors)
        let known = newest?.byteCounts ?? [:]
        let newBytes = state.byteCounts.reduce(0) { known[$1.key] == nil ? $0 + UInt64($1.value) : $0 }
        state.writtenBytes &+= newBytes
        if !isMerged { state.flushedBytes &+= newBytes }
        let path = Self.path(directory, state.sequence)
        do { try files.replace(path, in: directory, with: state.encoded()) } catch {
            // The files that it names are removed, too.
            for left in [path, path + Self.draftSuffix] { try? files.remove(left) }
            throw error
        }
        // A merge changes nothing that a past state could need.
        if let newest, newest.position.offset < state.position.offset { kept.append(newest) }
        newest = state
        lastSequence = state.sequence
        kept.removeAll { $0.position.offset < description.floor }
        keepSome(state)
        // Files that stay are removed after the next state.
        try? removeUnnamedFiles(keeping: levels)
    }

    /// Replaces the runs of the newest state by others of the same content.
    mutating func rewrite(_ levels: Levels, nextNumber: UInt64) throws {
        guard let newest else { return }
        try write(
            StateDescription(position: newest.position, opaque: newest.opaque, trees: newest.trees), levels,
            nextNumber: nextNumber, isMerged: true)
    }

    private mutating func keepSome(_ newest: StateFile) {
        kept = KeptPolicy.chosen(from: kept, at: newest.position.offset, atMost: maximumKept)
        let live = newest.byteCounts
        while !kept.isEmpty {
            let held = kept.reduce(into: [:]) { $0.merge($1.byteCounts) { size, _ in size } }
            let heldBytes = held.reduce(0) { live[$1.key] == nil ? $0 + $1.value : $0 }
            if heldBytes <= max(KeptPolicy.smallBytes, live.values.reduce(0, +) / 4) { return }
            kept.removeFirst(kept.count / 2 + 1)
        }
    }

    /// Removes the files that neither a state nor the given levels name.
    func removeUnnamedFiles(keeping levels: Levels) throws {
        guard let directory else { return }
        try Self.removeFiles(in: directory, files, notNamedBy: kept + [newest].compactMap(\.self), levels)
    }

    /// Removes the states beside the given ones, and the files that neither these nor the given levels name.
    static func removeFiles(
        in directory: String, _ files: any FileSystem, notNamedBy states: [StateFile], _ levels: Levels
    ) throws {
        let sequences = Set(states.map(\.sequence))
        let pieces = Set(states.lazy.flatMap(\.runs).flatMap(\.pieces).map(\.number)).union(levels.numbers(of: .piece))
        let blobs = Set(states.lazy.flatMap(\.blobs).map(\.number)).union(levels.numbers(of: .blob))
        let names = try files.list(directory)
        // States before the files that they name.
        let outdated = names.filter { name in
            // A state that was not completed may have keys of erased records.
            sequence(of: name).map { !sequences.contains($0) } ?? name.hasSuffix(draftSuffix)
        }
        let unused = names.filter { name in
            RunHome.number(of: name, .piece).map { !pieces.contains($0) }
                ?? RunHome.number(of: name, .blob).map { !blobs.contains($0) } ?? false
        }
        try files.removeEach(outdated + unused, in: directory)
    }
}

extension FileSystem {
    /// Removes files of a directory; one that cannot be removed does not keep the others.
    ///
    /// - Throws: the first error, at the end.
    func removeEach(_ names: [String], in directory: String) throws {
        var failure: (any Error)?
        for name in names {
            do { try remove("\(directory)/\(name)") } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

extension StateFile {
    /// The sizes of the files, by their numbers.
    var byteCounts: [UInt64: Int] {
        let pieces = runs.lazy.flatMap(\.pieces).map { ($0.number, $0.byteCount) }
        return Dictionary(pieces + blobs.map { ($0.number, $0.byteCount) }) { size, _ in size }
    }
}
