import StrataLog
import StrataModel
import StrataReplication

/// `strata promote`: turns a copy into an independent store, or the beginning of another sequencer.
enum PromoteCommand: Command {
    static let name = "promote"
    static let summary = "turn a copy into an independent store, or the beginning of another sequencer"
    static let changesStores = true
    static let details =
        "Use this when the sequencer is permanently gone. Commits that the copy has not read are lost, and all other "
        + "copies must be recreated. So the command exits with 1 if the sequencer answers, or might; --force promotes "
        + "anyway. With --to another sequencer, which must have no entries, gets the whole history of the copy, and "
        + "the copy follows that one. No program may have the copy open for writing."
    static let to = Option.text("--to", "ADDRESS", help: "the sequencer that gets the history and orders the store")
    static let force = Option.flag("--force", help: "promote the copy even if its sequencer may answer")
    static let operands = [Operand(name: "COPY", help: "the directory of the copy")]
    static let options: [any OptionDescription] = [to, force, Option.json]
    static let examples = [
        "strata promote Copy.strata", "strata promote Copy.strata --to file:///other/Notes.sequence",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func stores(_ arguments: Arguments) -> [String] { arguments.operands }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let path = arguments.store
        if SequencerAddress.isMeant(by: path) {
            throw UsageError("COPY is the directory of a copy, not an address; 'strata join' makes one")
        }
        let target = try arguments[to].map { try SequencerAddress($0) }
        try StoreAccess.requireDirectory(path)
        _ = try StoreAccess(path)
        return try Refusals.reporting(by: name) {
            guard try CopyMove.isCopy(at: path) else {
                throw StrataError(
                    .invalidArgument,
                    "The store is not a copy. To put it on a sequencer, use 'strata create --from'.",
                    .init(path: path))
            }
            if !arguments[force] { try requireSilence(of: path) }
            let report = try promote(path, to: target)
            try report.write(
                target == nil ? "it is an independent store" : "it follows \(Printable.escaped(arguments[to] ?? ""))",
                asJSON: arguments[Option.json], to: output)
        }
    }

    private static func promote(_ path: String, to target: SequencerAddress?) throws -> ReplicationReport {
        let origin = try CopyAddress.read(at: path)
        var notes: [String] = []
        if let origin, try SequencerAddress(origin).place.assets == .cluster {
            notes.append(
                "the store has only the asset files that the copy had read; while the cluster answers, "
                    + "'strata assets \(origin) --copy DIR' fetches all: copy them from the folder 'assets' of DIR")
        }
        guard let target else {
            let result = try CopyMove.detach(at: path)
            return ReplicationReport(
                target: path, identity: result.identity, commits: 0, end: result.end, notes: notes)
        }
        let result = try target.attach(path)
        return ReplicationReport(
            target: path, identity: result.identity, commits: 0, end: result.end,
            notes: try notes + ReplicationReport.notes(on: path, toSequencer: true, and: target))
    }

    /// - Throws: `.invalidArgument` unless the copy's sequencer is known to be gone.
    private static func requireSilence(of path: String) throws {
        guard let text = try CopyAddress.read(at: path) else {
            throw StrataError(
                .invalidArgument,
                "The copy does not note the address of its sequencer; use --force if the sequencer is gone.",
                .init(path: path))
        }
        do {
            let last = try SequencerAddress(text).withSequencer { try $0.last() }
            throw StrataError(
                .invalidArgument,
                """
                The copy's sequencer answers; use --force to promote anyway. Commits that the copy has not read are \
                then lost.
                """,
                .init(path: path, found: "\(text) with entry \(last) as the last one"))
        } catch let error as StrataError where error.code == .unreachable || isGone(text, error) {
            return
        } catch let error where (error as? StrataError)?.code != .invalidArgument {
            throw StrataError(
                .invalidArgument,
                "Could not determine whether the copy's sequencer answers; use --force if the sequencer is gone.",
                .init(path: path, found: text), cause: error is StrataError ? error : nil)
        }
    }

    /// Returns true if the directory of a sequencer is gone. For a server this code may mean that the program lacks
    /// a library.
    private static func isGone(_ address: String, _ error: StrataError) -> Bool {
        address.hasPrefix("file:") && error.code == .notFound
    }
}
