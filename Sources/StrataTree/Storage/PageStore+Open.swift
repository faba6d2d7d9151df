import StrataModel
import StrataSystem

/// A page store from a file, and what was found there.
public struct OpenedPageStore: Sendable {
    public let store: PageStore
    /// What the newest state of the store is; nil if the file was made anew and the trees are empty.
    public let checkpoint: Checkpoint?
    public let finding: PageFileFinding
    /// Why checkpoints could not be taken.
    public let reasons: [StrataError]

    public init(store: PageStore, checkpoint: Checkpoint?, finding: PageFileFinding, reasons: [StrataError]) {
        self.store = store
        self.checkpoint = checkpoint
        self.finding = finding
        self.reasons = reasons
    }
}

extension PageStore {
    static func viewsPath(_ directory: String) -> String { directory + "/views" }
    static func readersPath(_ directory: String) -> String { directory + "/readers" }

    /// Opens the page file of a store, or makes one where none can be used; that is no error.
    ///
    /// ```swift
    /// let opened = try PageStore.open(in: path, store: log.identity.storeID) { try log.has($0) }
    /// if opened.checkpoint == nil { … fold the log from its beginning … }
    /// ```
    /// - Parameter isValid: whether the log has that chain value at that offset.
    /// - Throws: what `isValid` throws, or ``StrataError`` if no file can be made.
    public static func open(
        in directory: String, store: Identifier, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), isValid: (Position) throws -> Bool
    ) throws -> OpenedPageStore {
        let files = platform.files
        let readers = ReadersFile(try files.open(readersPath(directory), .writeOrCreate))
        let opening = PageStoreOpening(
            directory: directory, store: store, platform: platform, options: options, readers: readers)
        return try opening.open(isValid)
    }

    /// Puts a page file away that does not hold what the log says, so that opening makes a new one. Whoever still reads
    /// it keeps it. A store does that by itself when it finds a damaged page.
    public static func setAside(in directory: String, files: any FileSystem) throws {
        let path = viewsPath(directory)
        guard try files.exists(path) else { return }
        try files.rename(path, to: setAsidePath(directory))
    }

    /// Removes what was put away, for good.
    public static func removeSetAside(in directory: String, files: any FileSystem) throws {
        guard try files.exists(setAsidePath(directory)) else { return }
        try files.remove(setAsidePath(directory))
        try files.syncDirectory(directory)
    }

    private static func setAsidePath(_ directory: String) -> String { viewsPath(directory) + ".damaged" }
}
