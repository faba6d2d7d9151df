import StrataLog
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem

/// `strata join`: a copy of a store on a sequencer, without a program.
enum JoinCommand: Command {
    static let name = "join"
    static let summary = "make or update a copy of a store on a sequencer"
    static let changesStores = true
    static let details =
        "Reads all entries that the copy lacks, and brings its views up to date, so that a program opens it "
        + "quickly. Nothing is written to the sequencer. Exits with 1 and prints the reason if the directory has "
        + "another store or commits that the sequencer does not have; no program may have the copy open for writing."
    static let copy = Operand(name: "COPY", help: "the directory of the copy; it is made if it is missing")
    static let operands = [SequencerAddress.operand, copy]
    static let options: [any OptionDescription] = [SequencerAddress.files, Option.json]
    static let examples = ["strata join file:///shared/Notes.sequence Copy.strata"]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func stores(_ arguments: Arguments) -> [String] { Array(arguments.operands.dropFirst()) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let address = try SequencerAddress(arguments.operands[0]).withFiles(of: arguments)
        let path = arguments.operands[1]
        guard !SequencerAddress.isMeant(by: path) else {
            throw UsageError("COPY is a directory, not an address; 'strata replicate' copies between sequencers")
        }
        return try Refusals.reporting(by: name) {
            let report = try JoinedCopy.update(path, address).close()
            try report.write(
                report.commits.counted("commit came", "commits came"), asJSON: arguments[Option.json], to: output)
        }
    }
}

/// A copy that this process keeps up to date with its sequencer.
struct JoinedCopy {
    let store: Store
    private let identity: StoreIdentity
    private let path: String
    private let first: UInt64

    /// Opens a copy, or makes it, and reads everything that it lacks.
    ///
    /// - Parameter isKept: false if the copy is removed afterward.
    static func update(_ path: String, _ address: SequencerAddress, isKept: Bool = true) throws -> JoinedCopy {
        // A store must not be created in a sequencer that has none.
        let identity = try address.withSequencer { try SequencedHistory($0, in: address.place.filesDirectory).identity }
        let before = try? LogReader.open(at: path, requiresWholeEnd: false) { _ in [] }.end.offset
        var options = StoreOptions.service
        options.place = address.place
        options.statesRules = false
        options.notesProgress = isKept
        let store = try Store.open(at: path, options: options, platform: Platform()) {
            Progress.note($0.offset, of: $0.end)
        }
        return JoinedCopy(store: store, identity: identity, path: path, first: before ?? 0)
    }

    /// Reads everything that was acknowledged to anyone before the call.
    func follow() throws { try store.confirm() }

    func close() throws -> ReplicationReport {
        let end = store.log.end
        try store.close()
        return ReplicationReport(
            target: path, identity: identity, commits: end.offset - min(first, end.offset), end: end)
    }
}
