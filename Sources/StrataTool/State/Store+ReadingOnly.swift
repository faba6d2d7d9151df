import StrataModel
import StrataStore
import StrataSystem

extension Store {
    /// Opens a store at its end; its files are read and nothing else.
    static func openForReading(at path: String, options: StoreOptions = .service) throws -> Store {
        try StoreAccess.requireDirectory(path)
        return try Store.open(
            at: path, options: options.lean, access: .readOnly, platform: Platform(files: ReadOnlyFiles()))
    }
}

extension StoreOptions {
    /// For a process that has a question or two: little memory, and a page file that cannot be read is an error and not
    /// the end.
    var lean: StoreOptions {
        var options = self
        options.pages.access = .read(cachedPages: 4_096)
        options.pages.maximumMemoryPages = 8_192
        return options
    }
}
