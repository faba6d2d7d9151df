/// The identity of a file, independent of its name. No other file can have it while the file is open.
public struct FileIdentity: Sendable, Hashable {
    public var device: UInt64
    public var inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The properties of a file that are known without reading it. Times are in nanoseconds since 1970.
public struct FileStatus: Sendable, Hashable {
    public var identity: FileIdentity
    public var size: Int
    /// The time of the last change to the content.
    public var modified: Int64
    /// The time of the last change to the content, the names or the permissions; it cannot be set back.
    public var changed: Int64

    public init(identity: FileIdentity, size: Int, modified: Int64 = 0, changed: Int64 = 0) {
        self.identity = identity
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}
