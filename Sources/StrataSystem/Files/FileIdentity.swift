/// The identity of a file, independent of its name. No other file can have it while the file is open.
package struct FileIdentity: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The properties of a file that are known without reading it. Times are in nanoseconds since 1970.
package struct FileStatus: Sendable, Hashable {
    package var identity: FileIdentity
    package var size: Int
    /// The time of the last change to the content.
    package var modified: Int64
    /// The time of the last change to the content, the names or the permissions; it cannot be set back.
    package var changed: Int64

    package init(identity: FileIdentity, size: Int, modified: Int64 = 0, changed: Int64 = 0) {
        self.identity = identity
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

extension FileStatus {
    /// Returns true if the last change to the content was more than a number of seconds ago.
    package func isOlder(than seconds: Int, at time: any TimeSource) -> Bool {
        time.nowMicroseconds() / 1_000_000 - modified / 1_000_000_000 > seconds
    }
}
