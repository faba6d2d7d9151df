import Glibc
import StrataModel

/// An open directory through which the files below it are found, even if the directory is moved or its path taken over.
final class DirectoryAnchor: Sendable {
    /// Absolute, so that it means the same when the process changes its working directory.
    let path: String
    private let givenPath: String
    let descriptor: Int32
    /// The directory's permissions for users other than its owner.
    let othersRights: mode_t

    init(_ path: String) throws {
        var given = path[...]
        while given.count > 1, given.last == "/" { given.removeLast() }
        givenPath = String(given)
        self.path = WorkingDirectory.absolutePath(of: path)
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
        var status = stat()
        othersRights = fstat(descriptor, &status) == 0 ? status.st_mode & 0o077 : 0
    }

    deinit { close(descriptor) }

    /// Returns a path relative to the directory; nil if the path is not below it.
    func relativeName(of other: String) -> String? {
        if other == givenPath { return "." }
        guard other.hasPrefix(givenPath) else { return nil }
        let rest = other.utf8.dropFirst(givenPath.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        let name = rest.drop { $0 == UInt8(ascii: "/") }
        return name.isEmpty ? "." : String(decoding: name, as: UTF8.self)
    }

    /// - Throws: `.directoryGone` if the directory was removed, or if its path leads to another directory or to none.
    func check() throws {
        var (own, found) = (stat(), stat())
        guard fstat(descriptor, &own) == 0 else { throw StrataError.systemCall("fstat", path: path, errno: errno) }
        guard own.st_nlink > 0 else {
            throw StrataError(
                .directoryGone, "The store's directory was removed; close the store.",
                .init(path: path))
        }
        guard stat(path, &found) == 0 else {
            let number = errno
            // A process that gave up its rights may be unable to look up the path; the descriptor is enough for it.
            guard number == ENOENT || number == ENOTDIR else { return }
            throw StrataError(
                .directoryGone, "The store's directory was moved; close the store, and open it at its new path.",
                .init(path: path, found: String(cString: strerror(number))))
        }
        guard found.st_dev == own.st_dev, found.st_ino == own.st_ino else {
            throw StrataError(
                .directoryGone,
                "The store's directory was replaced by another; close the store, and open the new one.",
                .init(path: path))
        }
    }
}
