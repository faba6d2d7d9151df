import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// `strata create`: a store whose log a sequencer orders.
enum CreateCommand: Command {
    static let name = "create"
    static let summary = "create a store on a sequencer, for processes on several machines"
    static let changesStores = true
    static let details =
        "Makes the sequencer ready and gives the store its identity. With --from the sequencer gets the whole history "
        + "of an existing store, with its offsets, times, ids and chain values; the directory is then a copy that "
        + "follows the sequencer, and is opened with its address. Exits with 1 and prints the reason if the sequencer "
        + "has a store already, if the history of --from was compacted or has erased data, or if a commit is longer "
        + "than an entry may be; the sequencer then has no entry. If the address says assets=cluster, the servers keep "
        + "assets too, and get those of --from."
    static let operands = [SequencerAddress.operand]
    static let from = Option.text("--from", "STORE", help: "the directory of a store to move to the sequencer")
    static let container = Option.text(
        "--container", "ID", help: "the container identifier; \(LogOptions().containerIdentifier) if none is given")
    static let options: [any OptionDescription] = [from, container, Option.json]
    static let examples = [
        "strata create file:///shared/Notes.sequence --container iCloud.com.example.notes",
        "strata create file:///shared/Notes.sequence --from Notes.strata",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func stores(_ arguments: Arguments) -> [String] { arguments.all(from) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let address = try SequencerAddress(arguments.operands[0])
        if arguments.has(from), arguments.has(container) {
            throw UsageError("--from and --container cannot be combined: the store has a container identifier")
        }
        if let path = arguments[from], SequencerAddress.isMeant(by: path) {
            throw UsageError("--from takes the directory of a store, not an address")
        }
        return try Refusals.reporting(by: name) {
            if let path = arguments[from] {
                let report = try create(address, from: path)
                try report.write(
                    "\(report.commits.counted("commit")) of \(Printable.escaped(path)) are in the sequencer",
                    asJSON: arguments[Option.json], to: output)
            } else {
                let report = try create(address, arguments[container] ?? LogOptions().containerIdentifier)
                let container = Printable.escaped(report.identity.containerIdentifier)
                try report.write(
                    "created store \(report.identity.storeID) of \(container)", asJSON: arguments[Option.json],
                    to: output)
            }
        }
    }

    private static func create(_ address: SequencerAddress, _ container: String) throws -> ReplicationReport {
        let platform = Platform()
        let identity = try StoreIdentity(
            storeID: platform.random.nextIdentifier(), containerIdentifier: container,
            created: platform.time.nowMicroseconds())
        try address.prepare()
        try address.withSequencer {
            // A sequencer without a store can be used for another one, and so can assets without an owner.
            try identity.create(in: $0, platform) { try address.checkAssets(of: identity.storeID) }
            try address.keepAssets(of: identity.storeID)
        }
        return ReplicationReport(target: address.place.address, identity: identity, commits: 0, end: .start)
    }

    private static func create(_ address: SequencerAddress, from path: String) throws -> ReplicationReport {
        try StoreAccess.requireDirectory(path)
        if try CopyMove.isCopy(at: path) {
            throw StrataError(
                .invalidArgument, "The store is a copy already; 'strata promote --to' moves it to another sequencer.",
                .init(path: path))
        }
        // Checked before the sequencer is made, so that a mistyped path leaves none behind.
        _ = try StoreAccess(path)
        let result = try address.attach(path)
        return ReplicationReport(
            target: address.place.address, identity: result.identity, commits: result.end.offset, end: result.end,
            notes: ["\(path) is a copy now, which programs open for writing with the sequencer only"]
                + (try ReplicationReport.notes(on: path, toSequencer: true, and: address)))
    }
}
