import StrataModel
import StrataReplication
import StrataStore
import StrataSystem

/// `strata assets`: checks the assets that the servers of a sequencer keep, and adds or removes some.
enum AssetsCommand: Command {
    static let name = "assets"
    static let summary = "check the assets that a sequencer's cluster keeps, or add or remove some"
    static let changesStores = true
    static let details =
        "Reads every asset that a commit names from the cluster, and compares it with its hash. --add DIRECTORY first "
        + "uploads the asset files in DIRECTORY: a store's directory, or the one its processes have shared. Stop the "
        + "processes first, then give them an address with assets=cluster. --copy keeps the copy that is read, with "
        + "the file of every asset. --remove-unused removes what no commit names: no process may have the store open. "
        + "Exits with 1 if an asset is missing or damaged, or if the command is refused."
    static let operands = [
        Operand(
            name: "ADDRESS",
            help: "the address of the sequencer, such as nats://host:4222/notes?assets=cluster")
    ]
    static let add = Option.text("--add", "DIRECTORY", help: "first upload the asset files in this directory")
    static let copy = Option.text(
        "--copy", "DIR", help: "keep the copy that is read in this directory, with the files of all assets")
    static let removesUnused = Option.flag(
        "--remove-unused", help: "remove what no commit names, while no process has the store open")
    static let options: [any OptionDescription] = [add, copy, removesUnused, SequencerAddress.files, Option.json]
    static let examples = [
        "strata assets 'nats://host:4222/notes?assets=cluster'",
        "strata assets 'nats://host:4222/notes?assets=cluster' --add /shared/Notes.files",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func stores(_ arguments: Arguments) -> [String] { arguments.all(copy) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let address = try SequencerAddress(arguments.operands[0]).withFiles(of: arguments)
        guard address.place.assets == .cluster else {
            throw UsageError("the address has to say that the cluster keeps assets: nats://HOST/STREAM?assets=cluster")
        }
        for directory in arguments.all(add) { try StoreAccess.requireDirectory(directory) }
        var isWhole = true
        let code = try Refusals.reporting(by: name) {
            let identity = try address.withSequencer {
                try SequencedHistory($0, in: address.place.filesDirectory).identity
            }
            var added = 0
            if let directory = arguments[add] {
                try address.prepare()
                added = try address.keepAssets(of: identity.storeID, from: directory)
            }
            func check(_ path: String) throws -> ClusterReport {
                let copy = try JoinedCopy.update(path, address, isKept: arguments.has(Self.copy))
                defer { _ = try? copy.close() }
                return try copy.store.checkCluster(
                    fetches: arguments.has(Self.copy), removesUnused: arguments[removesUnused])
            }
            let report = AssetsReport(
                address: address.place.address, storeID: identity.storeID, added: added,
                found: try AddressCopy.withPath(arguments[copy], check),
                hasRemoved: arguments[removesUnused])
            isWhole = report.found.problems.isEmpty
            try report.write(asJSON: arguments[Option.json], to: output)
        }
        return code == .success && !isWhole ? .no : code
    }
}

/// The result of `strata assets`.
struct AssetsReport {
    let address: String
    let storeID: Identifier
    let added: Int
    let found: ClusterReport
    /// True if what no commit names was removed.
    let hasRemoved: Bool

    func write(asJSON: Bool, to output: Output) throws {
        if asJSON { return try output.writeJSON(self) }
        if added > 0 { output.write("\(added.counted("file")) added to the cluster\n") }
        let verb = found.assetCount == 1 ? "is" : "are"
        output.write("\(found.assetCount.counted("asset")) of \(found.byteCount.counted("byte")) \(verb) whole")
        if found.unusedCount > 0 {
            output.write("; \(found.unusedCount) that no commit names\(hasRemoved ? " were removed" : "")")
        }
        if found.leftoverCount > 0 { output.write("; \(found.leftoverCount.counted("unfinished upload")) removed") }
        for hash in found.problems {
            output.write("\n")
            output.write("missing or damaged", .damage)
            output.write(": \(hash)")
        }
        try output.endLine()
    }
}

extension AssetsReport: Shaped {
    static let shape = Shape<Self>("What `assets` prints") {
        Key("target", "the sequencer's address without passwords") { $0.address }
        Key("storeID", "id of the store") { $0.storeID }
        Key("added", "how many files were added to the cluster before the check") { $0.added }
        Key("assets", "how many assets that commits name are whole") { $0.found.assetCount }
        Key("bytes", "how many bytes these have") { $0.found.byteCount }
        Key("problems", "hashes of the assets that are missing or damaged") { $0.found.problems.map(\.description) }
        Key("unused", "how many objects no commit names") { $0.found.unusedCount }
        Key("leftovers", "how many unfinished uploads were removed") { $0.found.leftoverCount }
        Key("removed", "true if the unused objects were removed") { $0.hasRemoved }
    }
}
