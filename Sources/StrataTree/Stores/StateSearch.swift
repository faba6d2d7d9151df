import StrataModel
import StrataSystem

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
    /// The states that could be decoded so far, also those of other stores and forms.
    private(set) var decoded: [StateFile] = []
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
    private mutating func usable<Result>(_ body: (inout StateSearch) throws -> Result) throws -> Result? {
        do { return try body(&self) } catch let error as StrataError {
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

    private mutating func read(_ sequence: UInt64) throws -> StateFile {
        let path = DurableStates.path(directory, sequence)
        let state = try StateFile.decode(try files.readAll(path, atMost: StateFile.maximumBytes))
        guard state.sequence == sequence else {
            throw StrataError(
                .malformed, "A state of the views has another sequence than its name.",
                .init(path: path, expected: "\(sequence)", found: "\(state.sequence)"))
        }
        decoded.append(state)
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
    mutating func older(than state: StateFile) throws -> [StateFile] {
        try sequences.filter { $0 < state.sequence }.reversed().compactMap { sequence in
            do { return try read(sequence) } catch let error as StrataError where Self.finding(error) != nil {
                return nil
            }
        }
    }

    func finding(_ found: StateFile?) -> StateFinding {
        if found != nil { return reasons.isEmpty ? .whole : .olderState }
        let order: [StateFinding] = [.otherForm, .foreign, .stale, .damaged]
        return order.first { findings.contains($0) } ?? .missing
    }
}
