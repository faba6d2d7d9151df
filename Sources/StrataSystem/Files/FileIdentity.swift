/// Which file it is, whatever it is called. A file that is open keeps its identity to itself.
public struct FileIdentity: Sendable, Hashable {
    public var device: UInt64
    public var inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What is known of a file without reading it. The times are nanoseconds since 1970.
public struct FileStatus: Sendable, Hashable {
    public var identity: FileIdentity
    public var size: Int
    /// When its content was written last.
    public var modified: Int64
    /// When its content, names or rights were changed last, which nobody can set back.
    public var changed: Int64

    public init(identity: FileIdentity, size: Int, modified: Int64 = 0, changed: Int64 = 0) {
        self.identity = identity
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}
