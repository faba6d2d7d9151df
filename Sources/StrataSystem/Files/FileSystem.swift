import StrataModel

/// How a file is opened.
public enum OpenMode: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case write
    /// A new file, for reading and writing; an existing one is an error.
    case create
    /// As ``create``; nobody but the file's owner may read or write it, from its first moment on.
    case createPrivate
    /// For reading and writing, made if it is not there.
    case writeOrCreate
}

/// The part of the operating system that Strata uses for files; the product calls it nowhere else.
public protocol FileSystem: Sendable {
    func open(_ path: String, _ mode: OpenMode) throws -> any File
    func exists(_ path: String) throws -> Bool
    /// Makes one directory; one that is there already is fine.
    func makeDirectory(_ path: String) throws
    func rename(_ source: String, to target: String) throws
    func remove(_ path: String) throws
    /// Names in a directory, in no order, without `.` and `..`.
    func list(_ directory: String) throws -> [String]
    /// Returns once the names in the directory have reached the medium.
    func syncDirectory(_ directory: String) throws
    /// A page in memory that processes share; nil if files of this kind cannot be that.
    func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage?
    /// The same files, of which those below a directory are found through an open descriptor of it: they stay its own
    /// when it is moved, and when another directory takes its place. Symbolic links are refused there. Files that are
    /// anchored at that directory already stay as they are.
    func anchored(at directory: String) throws -> any FileSystem
    /// - Throws: `.directoryGone` if the directory that these files are anchored at is no longer at its path.
    func checkAnchor() throws
    /// A directory, to be locked; nil if directories of this kind cannot be.
    func openDirectory(_ path: String) throws -> (any File)?
}

extension FileSystem {
    public func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? { nil }
    public func anchored(at directory: String) throws -> any FileSystem { self }
    public func checkAnchor() throws {}
    public func openDirectory(_ path: String) throws -> (any File)? { nil }

    /// Puts `bytes` in place of whatever `path` holds, so that after a crash there is the old or the new content,
    /// durable on return.
    ///
    /// - Parameter isPrivate: whether nobody but its owner may read it.
    public func replace(
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

    /// A new file that gives its name up at once, and its space when it is closed, at the latest with the process.
    public func openUnnamed(_ path: String) throws -> any File {
        if try exists(path) { try remove(path) }
        let file = try open(path, .create)
        try remove(path)
        return file
    }

    public func readAll(_ path: String, atMost limit: Int) throws -> [UInt8] {
        let file = try open(path, .read)
        defer { file.close() }
        return try file.read(count: min(try file.size(), limit), at: 0)
    }
}
