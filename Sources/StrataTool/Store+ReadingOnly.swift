import StrataModel
import StrataStore
import StrataSystem

extension Store {
    /// Folds a store's log in memory; its files are read and nothing else.
    static func openForReading(at path: String, options: StoreOptions = .service) throws -> Store {
        try StrataTool.StoreAccess.requireDirectory(path)
        return try Store.open(
            at: path, options: options, access: .readOnly, platform: Platform(files: ReadOnlyFiles()))
    }
}
