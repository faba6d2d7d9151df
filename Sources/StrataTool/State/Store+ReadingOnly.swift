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
    /// Options for a process with few queries: little memory, and pages that are read rather than mapped, so that an
    /// unreadable page file is an error.
    var lean: StoreOptions {
        var options = self
        options.trees.access = .read(cachedPages: 4_096)
        options.trees.maximumMemoryPages = 8_192
        return options
    }
}
