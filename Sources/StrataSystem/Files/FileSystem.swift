import StrataModel

/// The ways to open a file.
package enum OpenMode: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case write
    /// A new file, for reading and writing; an existing one is an error.
    case create
    /// Like ``create``, but only the file's owner may read or write it, from its creation on.
    case createPrivate
    /// For reading and writing; the file is created if it does not exist.
    case writeOrCreate
}

/// The file operations of the operating system that Strata uses; the product calls them nowhere else.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ mode: OpenMode) throws -> any File
    func exists(_ path: String) throws -> Bool
    /// Creates one directory; an existing one is not an error.
    func makeDirectory(_ path: String) throws
    func rename(_ source: String, to target: String) throws
    /// Gives a file another name, in one step and without overwriting.
    /// - Throws: `.alreadyExists` if there is something of that name; `.invalidArgument` if this file system has no
    ///   such call.
    func hardLink(_ source: String, to target: String) throws
    func remove(_ path: String) throws
    /// Returns the names in a directory, unordered, without `.` and `..`.
    func list(_ directory: String) throws -> [String]
    /// Returns once the names in the directory have reached the medium.
    func syncDirectory(_ directory: String) throws
    /// The free bytes of the medium of a directory; nil if they are not known.
    func freeBytes(of directory: String) throws -> Int?
    /// Opens a page of memory that processes share; nil if this file system cannot share memory.
    func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage?
    /// Returns the same files, with those below a directory found through an open descriptor of it: they remain its own
    /// when it is moved, and when another directory takes its place. Symbolic links are refused there. Files that are
    /// already anchored at that directory are returned unchanged.
    func anchored(at directory: String) throws -> any FileSystem
    /// - Throws: `.directoryGone` if the directory that these files are anchored at is no longer at its path.
    func checkAnchor() throws
    /// Opens a directory in order to lock it; nil if this file system cannot lock directories.
    func openDirectory(_ path: String) throws -> (any File)?
}

extension FileSystem {
    package func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? { nil }
    package func freeBytes(of directory: String) throws -> Int? { nil }
    package func anchored(at directory: String) throws -> any FileSystem { self }
    package func checkAnchor() throws {}
    package func openDirectory(_ path: String) throws -> (any File)? { nil }
    package func hardLink(_ source: String, to target: String) throws {
        throw StrataError(.invalidArgument, "These files cannot have a second name.", .init(path: source))
    }

    /// Replaces the content of `path` with `bytes`: after a crash it is the old or the new content, and on return the
    /// new content is durable.
    ///
    /// - Parameter isPrivate: true if only the owner may read the file.
    package func replace(
        _ path: String, in directory: String, with bytes: [UInt8], isPrivate: Bool = false
    ) throws {
        let draft = path + ".new"
        if try exists(draft) { try remove(draft) }
        let file = try open(draft, isPrivate ? .createPrivate : .create)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.sync()
        try rename(draft, to: path)
        try syncDirectory(directory)
    }

    /// Creates a file as a whole, unless the path is taken: of several processes that want it, one gets it. Durable on
    /// return.
    ///
    /// - Parameters:
    ///   - draft: a path in the same directory that nothing else uses.
    ///   - isPrivate: true if only the owner may read the file; bytes that are not used are then overwritten.
    /// - Returns: false if there is something at the path.
    package func create(
        _ path: String, in directory: String, with bytes: [UInt8], draft: String, isPrivate: Bool = false
    ) throws -> Bool {
        let file = try open(draft, isPrivate ? .createPrivate : .create)
        defer { file.close() }
        do {
            try file.write(bytes, at: 0)
            try file.sync()
            try hardLink(draft, to: path)
        } catch {
            try? remove(draft)
            // The outcome of a link that failed with another error is not known.
            guard let error = error as? StrataError, error.code == .alreadyExists else { throw error }
            if isPrivate { try? file.wipe() }
            return false
        }
        try? remove(draft)
        try syncDirectory(directory)
        return true
    }

    /// Creates a file without a name, whose space is freed when it is closed, at the latest when the process ends.
    package func openUnnamed(_ path: String) throws -> any File {
        if try exists(path) { try remove(path) }
        let file = try open(path, .create)
        try remove(path)
        return file
    }

    package func readAll(_ path: String, atMost limit: Int) throws -> [UInt8] {
        let file = try open(path, .read)
        defer { file.close() }
        return try file.read(count: min(try file.size(), limit), at: 0)
    }
}
