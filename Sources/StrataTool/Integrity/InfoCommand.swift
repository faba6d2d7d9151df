/// `strata info`: the identity of a store and the size of its contents.
enum InfoCommand: Command {
    static let name = "info"
    static let summary = "show what a store is and how much it holds"
    static let details =
        "Besides what the log holds, it prints how far the log is known to be durable, which history is kept, how far "
        + "the newest state on disk goes and whether it can be used, and how many users, zones, record types and "
        + "fields have names. It reads headers, hints and the newest segment, takes no lock, and can run while another "
        + "program writes to the store. Of a sequencer it reads all entries, and prints how many there are and where "
        + "their history ends. For a damaged store it prints what it can and exits with 3."
    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress]
    static let options: [any OptionDescription] = [SequencerAddress.files, Option.json]
    static let examples = ["strata info Notes.strata", "strata info Notes.strata --json | jq .commits"]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if SequencerAddress.isMeant(by: arguments.store) {
            let info = try SequencerInfo(try SequencerAddress(arguments.store).withFiles(of: arguments))
            if arguments[Option.json] { try output.writeJSON(info) } else { try info.write(to: output) }
            return .success
        }
        try StoreAccess.requireDirectory(arguments.store)
        let info = try StoreInfo(try StoreAccess(arguments.store))
        if arguments[Option.json] { try output.writeJSON(info) } else { try info.write(to: output) }
        if let damage = info.damage { throw damage }
        return .success
    }
}
