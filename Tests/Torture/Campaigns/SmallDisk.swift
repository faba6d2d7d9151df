import Foundation
import Glibc
import StrataModel

/// A file system of its own in memory, whose size is chosen.
struct SmallDisk {
    static var isPermitted: Bool {
        let path = "/tmp/torture-disk-\(getpid())"
        guard let disk = try? SmallDisk(at: path) else { return false }
        disk.remove()
        rmdir(path)
        return true
    }

    private let path: String

    init(at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try mount(0, bytes: 1 << 20)
    }

    private func mount(_ flags: UInt, bytes: Int) throws {
        guard Glibc.mount("torture", path, "tmpfs", flags, "size=\(bytes)") == 0 else {
            throw StrataError.systemCall("mount", path: path, errno: errno)
        }
    }

    /// Makes the disk so large that this much of it is free.
    func leaveFree(bytes: Int) throws {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw StrataError.systemCall("statvfs", path: path, errno: errno) }
        let used = Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
        try mount(UInt(MS_REMOUNT), bytes: used + bytes)
    }

    func remove() { umount2(path, Int32(MNT_DETACH)) }
}
