import Foundation
import StrataLog
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem

/// `strata replicate`: brings one place of a store up to date with another.
enum ReplicateCommand: Command {
    static let name = "replicate"
    static let summary = "bring one directory or sequencer up to date with another"
    static let changesStores = true
    static let details =
        "TO gets the commits that it lacks, with the same offsets and chain values. From a sequencer to a directory it "
        + "does what 'strata join' does. From a directory to another it makes a second store with the same history, "
        + "which can be read at any time and is a warm standby as long as no program writes to it. To a sequencer it "
        + "appends the commits; 'strata create --from' makes a new one. With --repair a sequencer that has lost its "
        + "last entries gets their commits back from a copy that has read them; then every process that still has a "
        + "copy open must open it again. Exits with 1 and prints the first commit that differs if TO does not have "
        + "the beginning of FROM's history. With --follow it goes on until it is interrupted."
    static let follow = Option.flag("--follow", help: "keep TO up to date until interrupted")
    static let repair = Option.flag(
        "--repair", help: "give the commits that the sequencer TO has lost back to it; FROM is a copy that has them")
    static let operands = [
        Operand(name: "FROM", help: "the directory of a store or of a copy, or the address of a sequencer"),
        Operand(name: "TO", help: "the directory or the address that gets the commits"),
    ]
    static let options: [any OptionDescription] = [follow, repair, SequencerAddress.files, Option.json]
    static let examples = [
        "strata replicate Notes.strata /backup/Notes.strata --follow",
        "strata replicate file:///shared/Notes.sequence Copy.strata --follow",
        "strata replicate Copy.strata file:///shared/Notes.sequence --repair",
    ]

    private enum Place {
        case directory(String)
        case sequencer(SequencerAddress)

        init(_ word: String, _ arguments: Arguments) throws {
            self =
                SequencerAddress.isMeant(by: word)
                ? .sequencer(try SequencerAddress(word).withFiles(of: arguments)) : .directory(word)
        }

        /// Equal for two names of one place.
        var key: String {
            switch self {
            case .directory(let path): URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            case .sequencer(let address): address.place.address
            }
        }
    }

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func showsProgress(_ arguments: Arguments) -> Bool { !arguments[follow] }
    static func stores(_ arguments: Arguments) -> [String] {
        arguments.operands.filter { !SequencerAddress.isMeant(by: $0) }
    }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let (from, to) = (
            try Place(arguments.operands[0], arguments), try Place(arguments.operands[1], arguments)
        )
        guard from.key != to.key else { throw UsageError("FROM and TO are the same place") }
        if case .directory(let path) = from { try StoreAccess.requireDirectory(path) }
        let follows = arguments[follow]
        if arguments[repair] {
            guard case (.directory, .sequencer) = (from, to) else {
                throw UsageError("--repair goes from the directory of a copy to the address of its sequencer")
            }
        }
        if follows { StopRequest.listen(to: [SIGINT, SIGTERM]) }
        return try Refusals.reporting(by: name) {
            let report =
                switch (from, to) {
                case (.sequencer(let address), .directory(let path)): try join(address, path, follows: follows)
                case (.directory(let source), .directory(let path)): try copy(source, path, follows: follows)
                case (.directory(let source), .sequencer(let address)):
                    try publish(source, address, follows: follows, repairs: arguments[repair])
                case (.sequencer(let source), .sequencer(let address)):
                    try publish(source, address, follows: follows)
                }
            try report.write(
                report.commits.counted("commit was copied", "commits were copied"), asJSON: arguments[Option.json],
                to: output)
        }
    }

    // MARK: To a directory

    private static let pauseMilliseconds = 200

    private static func join(
        _ address: SequencerAddress, _ path: String, follows: Bool
    ) throws -> ReplicationReport {
        let copy = try JoinedCopy.update(path, address)
        do {
            var isReachable = true
            while follows, !StopRequest.hasCome {
                // The copy follows by itself; this notices the reason if it cannot.
                do {
                    try copy.follow()
                    isReachable = true
                } catch let error as StrataError where [.unreachable, .outcomeUnknown].contains(error.code) {
                    if isReachable { Diagnostics.note("\(error)", by: name) }
                    isReachable = false
                }
                usleep(UInt32(pauseMilliseconds) * 1_000)
            }
        } catch {
            _ = try? copy.close()
            throw error
        }
        return try copy.close()
    }

    private static func copy(_ source: String, _ path: String, follows: Bool) throws -> ReplicationReport {
        let reader = try LogReader.open(at: source, platform: Platform(files: ReadOnlyFiles()))
        let standby = try StandbyCopy(at: path, of: reader.identity)
        var count: UInt64 = 0
        do {
            count = try standby.catchUp(with: reader)
            while follows, !StopRequest.hasCome {
                _ = try reader.wait(past: standby.end.offset, milliseconds: pauseMilliseconds)
                count += try standby.catchUp(with: reader)
            }
        } catch {
            try? standby.close()
            throw error
        }
        let end = standby.end
        try standby.close()
        // The views are brought up to date, so that a program opens the store quickly.
        try Store.open(at: path).close()
        return ReplicationReport(
            target: path, identity: reader.identity, commits: count, end: end,
            notes: try ReplicationReport.notes(on: source, toSequencer: false))
    }

    // MARK: To a sequencer

    private static func publish(
        _ source: String, _ address: SequencerAddress, follows: Bool, repairs: Bool
    ) throws -> ReplicationReport {
        let isCopy = try CopyMove.isCopy(at: source)
        let isOwn = try isCopy && (CopyAddress.read(at: source) ?? address.place.address) == address.place.address
        // What a store may still lose must not be in a sequencer; a sequencer keeps what its copies have read.
        let reader = try LogReader.open(
            at: source, extent: isCopy ? .written : .durable, platform: Platform(files: ReadOnlyFiles()))
        if repairs {
            guard isOwn else {
                throw StrataError(
                    .invalidArgument, "Only a copy that follows the sequencer can repair it.",
                    .init(path: source, expected: address.place.address))
            }
            try restoreIdentity(reader.identity, address)
        }
        return try address.withSequencer { sequencer in
            var publisher = try HistoryPublisher(
                of: reader, reader.identity, to: sequencer, in: address.place.filesDirectory)
            try publisher.compare()
            guard isOwn || publisher.surplus == 0 else {
                throw PartedHistories(offset: reader.end.offset + 1, reason: "only the sequencer has that commit")
            }
            guard !isOwn || repairs || publisher.missing == 0 else {
                throw StrataError(
                    .invalidArgument, "The sequencer has lost commits that this copy has; --repair gives them back.",
                    .init(
                        offset: publisher.end.offset + 1, path: source, expected: "commits up to \(reader.end.offset)"))
            }
            var count = try publisher.publish()
            while follows, !StopRequest.hasCome {
                guard try reader.wait(past: publisher.end.offset, milliseconds: pauseMilliseconds) else { continue }
                count += try publisher.publish()
            }
            return ReplicationReport(
                target: address.place.address, identity: reader.identity, commits: count, end: publisher.end,
                surplus: publisher.surplus, notes: try ReplicationReport.notes(on: source, toSequencer: true))
        }
    }

    /// Gives a sequencer that has lost all its entries the store again.
    private static func restoreIdentity(_ identity: StoreIdentity, _ address: SequencerAddress) throws {
        try address.prepare()
        try address.withSequencer { if try $0.last() == 0 { try identity.create(in: $0) } }
    }

    private static func publish(
        _ source: SequencerAddress, _ address: SequencerAddress, follows: Bool
    ) throws -> ReplicationReport {
        if follows { throw UsageError("--follow needs a directory as FROM or TO") }
        return try AddressCopy.reading(source, in: nil) { path in
            let reader = try LogReader.open(at: path, platform: Platform(files: ReadOnlyFiles()))
            return try address.withSequencer { sequencer in
                var publisher = try HistoryPublisher(
                    of: reader, reader.identity, to: sequencer, in: address.place.filesDirectory)
                try publisher.compare()
                let count = try publisher.publish()
                return ReplicationReport(
                    target: address.place.address, identity: reader.identity, commits: count, end: publisher.end,
                    surplus: publisher.surplus)
            }
        }
    }
}
