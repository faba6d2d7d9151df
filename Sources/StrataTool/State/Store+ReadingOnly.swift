import StrataModel
import StrataStore
import StrataSystem

extension Store {
    /// Opens a store at its end. Its files are only read.
    static func openForReading(at path: String, options: StoreOptions = .service) throws -> Store {
        try StoreAccess.requireDirectory(path)
        return try Store.open(
            at: path, options: options.lean, access: .readOnly, platform: Platform(files: ReadOnlyFiles()))
    }
}

extension Store {
    /// Calls `body` with the store and closes it, also if `body` throws.
    func closing<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let result: Result
        do { result = try body(self) } catch {
            try? close()
            throw error
        }
        try close()
        return result
    }
}

extension StoreOptions {
    /// Options for a process with few queries: little memory.
    var lean: StoreOptions {
        var options = self
        options.trees.generationBytes = 32 << 20
        return options
    }
}
