import StrataModel
import StrataSystem

extension PageStore {
    static func viewsPath(_ directory: String) -> String { directory + "/views" }
    static func readersPath(_ directory: String) -> String { directory + "/readers" }

    /// Opens the page file of a store, or creates one if none is usable, which is not an error.
    ///
    /// ```swift
    /// let opened = try PageStore.open(in: path, store: log.identity.storeID) { try log.has($0) }
    /// if opened.checkpoint == nil { … fold the log from its beginning … }
    /// ```
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    /// - Throws: errors of `isValid`, or ``StrataError`` if no file can be created.
    package static func open(
        in directory: String, store: Identifier, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), isValid: (Position) throws -> Bool
    ) throws -> OpenedPageStore {
        let files = platform.files
        let readers = ReadersFile(try files.open(readersPath(directory), .writeOrCreate))
        let opening = PageStoreOpening(
            directory: directory, store: store, platform: platform, options: options, readers: readers)
        return try opening.open(isValid)
    }

    /// Renames a page file that does not match the log, so that opening creates a new one. Open readers keep the old
    /// file. A store calls this when it finds a damaged page.
    package static func setAside(in directory: String, files: any FileSystem) throws {
        let path = viewsPath(directory)
        guard try files.exists(path) else { return }
        try files.rename(path, to: setAsidePath(directory))
    }

    /// Deletes the renamed file permanently.
    package static func removeSetAside(in directory: String, files: any FileSystem) throws {
        guard try files.exists(setAsidePath(directory)) else { return }
        try files.remove(setAsidePath(directory))
        try files.syncDirectory(directory)
    }

    /// Leaves the directory as it was before an opening that failed: restores the renamed page file, or else removes
    /// the new one.
    ///
    /// - Parameter hadFile: true if there was a page file before.
    package static func undoOpening(in directory: String, hadFile: Bool, files: any FileSystem) throws {
        if try files.exists(setAsidePath(directory)) {
            try files.rename(setAsidePath(directory), to: viewsPath(directory))
        } else if try !hadFile && files.exists(viewsPath(directory)) {
            try files.remove(viewsPath(directory))
        }
    }

    /// Returns true if the directory has a page file.
    package static func hasFile(in directory: String, files: any FileSystem) throws -> Bool {
        try files.exists(viewsPath(directory))
    }

    private static func setAsidePath(_ directory: String) -> String { viewsPath(directory) + ".damaged" }
}
