import StrataModel
import StrataReplication
import StrataStore

/// `strata erase`: permanently erases all contents of records, or reports what that would erase.
enum EraseCommand: Command {
    static let name = "erase"
    static let summary = "erase all versions of records for good, or show what that would erase"
    static let changesStores = true
    static let details =
        "Removes every version of the records from the log and from the views, and the asset files that no other "
        + "record has. Names of records remain, and offsets and change tokens stay valid. Copies of the store, and "
        + "data that clients have fetched, are not affected. With the address of a sequencer, every copy that follows "
        + "it erases the records from its own files; what is printed, also by 'strata info ADDRESS', says which have "
        + "not done so, and which trim removes the data from the sequencer. Without --apply nothing is changed. Exits "
        + "with 1 and prints the reason if the log does not know a record, or if a record is the parent of one that is "
        + "not named."
    static let readsAddresses = true
    static let connectsItself = true
    static let operands = [
        Operand.storeOrAddress,
        Operand(name: "RECORD", help: "the name of a record; repeat for more", isRepeatable: true),
    ]
    static let zone = Option.text(
        DatabaseOptions.zone.name, "NAME", help: "the zone of the records; the default zone by default")
    static let database = Option<InternedName.Scope>.choice(
        DatabaseOptions.database.name, "NAME", [("public", .public), ("private", .private)],
        help: "public or private; the default is private with --user or --owner, else public")
    static let reason = Option.text("--reason", "TEXT", help: "why; kept in the log, and required with --apply")
    static let options: [any OptionDescription] = [
        DatabaseOptions.typedUser, database, DatabaseOptions.owner, zone, reason, Option.apply,
        AddressCopy.directory, SequencerAddress.files, Option.json,
    ]
    static let examples = [
        "strata erase Notes.strata card --zone People --user anna",
        "strata erase Notes.strata card --zone People --user anna --reason 'asked for on 4 May' --apply",
        "strata erase file:///shared/Notes.sequence card --user anna --reason 'asked for on 4 May' --apply",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[Option.apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard !arguments[Option.apply] || arguments.has(reason) else {
            throw UsageError("--apply needs --reason TEXT, which is kept in the log")
        }
        guard SequencerAddress.isMeant(by: arguments.store) else {
            try StoreAccess.requireDirectory(arguments.store)
            return try run(arguments, output, Target(path: arguments.store))
        }
        let address = try SequencerAddress(arguments.store).withFiles(of: arguments)
        func erase(_ path: String) throws -> ExitCode {
            let isKept = arguments.has(AddressCopy.directory)
            return try run(arguments, output, Target(path: path, address: address, isKept: isKept))
        }
        return try AddressCopy.withPath(arguments[AddressCopy.directory], erase)
    }

    /// A store to erase from.
    private struct Target {
        /// Its directory, or that of a copy.
        let path: String
        /// The address of the sequencer that the copy follows; nil for a store that has none.
        var address: SequencerAddress?
        var isKept = false

        func open() throws -> Store {
            if let address { return try JoinedCopy.update(path, address, isKept: isKept).store }
            var options = StoreOptions.embedded
            (options.createsStore, options.statesRules) = (false, false)
            return try Store.open(at: path, options: options)
        }

        /// Returns how far the last erasure is in other places.
        func progress() throws -> ErasureProgress? { try address.flatMap { try SequencerInfo($0).erasure } }
    }

    private static func run(_ arguments: Arguments, _ output: Output, _ target: Target) throws -> ExitCode {
        let isApplied = arguments[Option.apply]
        let named = try DatabaseOptions(arguments)
        let zone = named.zone ?? .default
        let ids = arguments.operands.dropFirst().map { RecordID($0, zone: zone) }
        // The service erases, and it has no database of its own, so the owner must be named.
        let database = DatabaseID(named.database.scope, owner: named.ownerName)
        do {
            let plan =
                try isApplied ? erase(ids, in: database, arguments, target) : plan(ids, in: database, target)
            let progress = isApplied ? try target.progress() : nil
            if arguments[Option.json] {
                for entry in plan.records { try output.writeJSON((entry, isApplied, progress), as: shape) }
            } else {
                try write(plan, isApplied, output, advice: target.address == nil ? "copy the store, then " : "")
                if let progress, let address = target.address {
                    try progress.write(to: output, address.place.address)
                }
            }
            return .success
        } catch let refusal as Refusal {
            guard [.unknownItem, .zoneNotFound].contains(refusal.code) else {
                return Diagnostics.refuse(refusal, by: name)
            }
            try reportUnknown(ids, in: named, of: target.path, refusal)
            return .no
        }
    }

    /// Reports the first record that the log does not know, and the zones of the same database that have its name.
    private static func reportUnknown(
        _ ids: [RecordID], in named: DatabaseOptions, of path: String, _ refusal: Refusal
    ) throws {
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        let database = DatabaseID(named.database.scope, owner: named.ownerName)
        for id in ids {
            do { _ = try store.erasurePlan([id], in: database) } catch let refusal as Refusal {
                let problem =
                    refusal.code == .unknownItem
                    ? "There is no record '\(id.name)' in zone '\(id.zone.name)', and there never was."
                    : "There is no record '\(id.name)': \(refusal.message)"
                let places = RecordPlaces(ContainerState(store))
                let advice = try places.advice(for: id.name, besides: named, searchesOthers: false)
                return Diagnostics.report(problem, code: .init(refusal.code), advice: advice, by: name)
            }
        }
        Diagnostics.refuse(refusal, by: name)
    }

    private static func plan(_ ids: [RecordID], in database: DatabaseID, _ target: Target) throws -> ErasurePlan {
        let store = try target.address == nil ? Store.openForReading(at: target.path) : target.open()
        defer { try? store.close() }
        return try store.erasurePlan(ids, in: database)
    }

    private static func erase(
        _ ids: [RecordID], in database: DatabaseID, _ arguments: Arguments, _ target: Target
    ) throws -> ErasurePlan {
        try target.open().closing { store in
            let plan = try store.erasurePlan(ids, in: database)
            try store.erase(ids, in: database, reason: arguments[reason] ?? "")
            return plan
        }
    }

    private static func write(
        _ plan: ErasurePlan, _ isApplied: Bool, _ output: Output, advice: String
    ) throws {
        for entry in plan.records {
            let versions = entry.versionCount.counted("version")
            output.write(
                Printable.escaped("\(entry.record.zone.name) / \(entry.type) / \(entry.record.name)"), .heading)
            output.write(": \(versions), ")
            try output.writeLine((entry.isThere ? "present" : "already deleted") + (isApplied ? ", erased" : ""))
        }
        if !isApplied {
            try output.writeLine("nothing was changed: \(advice)run it again with --reason TEXT --apply")
        }
    }

    static let shape = Shape<(entry: ErasurePlan.Entry, isApplied: Bool, progress: ErasureProgress?)>(
        "What `erase` prints", "An object for each record."
    ) {
        Key("record", "its name") { $0.entry.record.name }
        Key("zone", "name of the zone") { $0.entry.record.zone.name }
        Key("type", "its record type") { $0.entry.type }
        Key("versions", "how many the log has") { $0.entry.versionCount }
        Key("there", "true if it exists now, false if it was deleted before") { $0.entry.isThere }
        Key("erased", "false without `--apply`") { $0.isApplied }
        Key("trimBefore", "with an address: the sequencer has the data until it is trimmed before this commit") {
            $0.progress?.trimBefore
        }
        Key("waiting", "with an address: directories of the copies that have not erased it, or null if not known") {
            $0.progress?.waitingPaths
        }
    }
}
