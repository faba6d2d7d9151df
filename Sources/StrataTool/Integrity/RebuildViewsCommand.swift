import StrataModel
import StrataStore
import StrataSystem
import StrataTree

/// `strata rebuild-views`: rebuilds the views of a store from its log.
enum RebuildViewsCommand: Command {
    static let name = "rebuild-views"
    static let summary = "rebuild a store's views from its log, or show what that would read"
    static let changesStores = true
    static let details =
        "The views hold the state of the log for fast reading; they can always be rebuilt. A store rebuilds them by "
        + "itself when it finds damage; this command is for views that you do not trust. Without --apply "
        + "nothing is changed."
    static let options: [any OptionDescription] = [Option.apply, Option.json]
    static let examples = ["strata rebuild-views Notes.strata", "strata rebuild-views Notes.strata --apply"]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[Option.apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let isApplied = arguments[Option.apply]
        let before = try viewsBytes(arguments.store)
        if isApplied { try rebuild(arguments.store) }
        let log = try StoreAccess(arguments.store)
        let commits = log.reader.end.offset
        let after = isApplied ? try viewsBytes(arguments.store) : nil
        if arguments[Option.json] {
            try output.writeJSON((isApplied, commits, before, after), as: shape)
        } else {
            if let after {
                output.write("folded up to commit \(commits): the views have \(after.counted("byte"))")
                if let before { output.write(", and had \(before) before") }
            } else {
                output.write(
                    "would fold the log up to commit \(commits) into new views, in place of "
                        + (before.map { "\($0.counted("byte"))" } ?? "none")
                        + "; nothing was changed: use --apply to do it")
            }
            try output.endLine()
        }
        if let damage = log.damage { throw damage }
        return .success
    }

    static let shape = Shape<(isApplied: Bool, end: UInt64, before: UInt64?, after: UInt64?)>(
        "What `rebuild-views` prints"
    ) {
        Key("applied", "true if it was done") { $0.isApplied }
        Key("end", "the last commit") { $0.end }
        Key("bytesBefore", "of the views") { $0.before }
        Key("bytesAfter", "of the new ones") { $0.after }
    }

    private static func viewsBytes(_ store: String) throws -> UInt64? {
        try TreeStore.byteCount(in: store, files: RealFileSystem()).map(UInt64.init)
    }

    private static func rebuild(_ path: String) throws {
        var options = StoreOptions.embedded
        options.createsStore = false
        let store = try Store.open(at: path, options: options) { Progress.note($0.offset, of: $0.end) }
        try store.closing { try $0.rebuildViews() }
    }
}
