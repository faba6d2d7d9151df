import StrataLog
import StrataModel
import StrataReplication
import StrataStore

/// `strata trim`: removes the first entries of a sequencer, and gives new copies a base in their place.
enum TrimCommand: Command {
    static let name = "trim"
    static let summary = "remove a sequencer's entries before a commit; new copies begin with a base"
    static let changesStores = true
    static let details =
        "Makes a base, the state after the entries to be removed, in the directory of the store's assets and keys, "
        + "marks it among the entries, and then removes the entries whose commits are all before OFFSET. Copies that "
        + "exist keep their history; copies that are made later begin with the base, and serve no change tokens and "
        + "past states from before it. Exits with 1 and prints the reason if there is no directory for assets and "
        + "keys, if OFFSET is after the end, if no remaining entry ends before it, or if a copy that was in use in the "
        + "last 7 days has not read all that would be removed; nothing is trimmed in that case. If a trim is "
        + "interrupted, run it again."
    static let operands = [SequencerAddress.operand]
    static let before = Option.commit(
        "--before", help: "remove the entries that end before this commit; required"
    ).required
    static let copy = Option.text(
        "--copy", "DIR", help: "make the base from the copy in this directory, which is made or updated, and kept")
    static let ignoresCopies = Option.flag(
        "--ignore-copies", help: "trim even what a copy has not read; such a copy must be made again")
    static let options: [any OptionDescription] = [
        before, SequencerAddress.files, copy, ignoresCopies, Option.json,
    ]
    static let examples = [
        "strata trim file:///shared/Notes.sequence --before 120000",
        "strata trim nats://host:4222/notes --before 120000 --files /shared/Notes.files",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func stores(_ arguments: Arguments) -> [String] { arguments.all(copy) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let address = try SequencerAddress(arguments.operands[0]).withFiles(of: arguments)
        guard let commit = arguments[before] else { throw UsageError("--before OFFSET is missing") }
        if let path = arguments[copy], SequencerAddress.isMeant(by: path) {
            throw UsageError("--copy takes the directory of a copy, not an address")
        }
        return try Refusals.reporting(by: name) {
            guard address.place.filesDirectory != nil else {
                throw StrataError(
                    .invalidArgument, "The base needs a directory that all processes share; specify it with --files.",
                    .init(path: address.place.address))
            }
            func report(_ path: String) throws -> TrimReport {
                try trim(address, before: commit, path, isKept: arguments.has(copy), arguments[ignoresCopies])
            }
            let done = try AddressCopy.withPath(arguments[copy], report)
            try done.write(asJSON: arguments[Option.json], to: output)
        }
    }

    private static func trim(
        _ address: SequencerAddress, before commit: CommitOperand, _ path: String, isKept: Bool, _ ignoresCopies: Bool
    ) throws -> TrimReport {
        let copy = try JoinedCopy.update(path, address, isKept: isKept)
        do {
            let offset = max(1, commit.offset(upTo: copy.store.offset))
            let done = try copy.store.trimSequencer(before: offset, ignoresCopies: ignoresCopies)
            return TrimReport(address: address.place.address, identity: try copy.close().identity, done: done)
        } catch {
            _ = try? copy.close()
            throw error
        }
    }
}

/// The result of `strata trim`.
struct TrimReport {
    let address: String
    let identity: StoreIdentity
    let done: TrimmedSequencer

    func write(asJSON: Bool, to output: Output) throws {
        if asJSON { return try output.writeJSON(self) }
        try output.writeLine(
            "entries up to \(done.entry) were removed; new copies begin after commit \(done.horizon), with a base of "
                + "\(done.baseBytes.counted("byte"))")
    }
}

extension TrimReport: Shaped {
    static let shape = Shape<Self>("What `trim` prints") {
        Key("target", "the sequencer's address without passwords") { $0.address }
        Key("storeID", "id of the store") { $0.identity.storeID }
        Key("container", "its container identifier") { $0.identity.containerIdentifier }
        Key("lastEntry", "number of the last entry that was removed") { $0.done.entry }
        Key("horizon", "the last commit that the base replaces. New copies have no history up to it") {
            $0.done.horizon.offset
        }
        Key("chain", "chain value there") { Hexadecimal($0.done.horizon.chain) }
        Key("baseBytes", "how many bytes the base has") { $0.done.baseBytes }
    }
}
