import Glibc
import StrataModel

/// The files of this machine. Only their owner may read new files and directories; below an anchor, other users may
/// read them if they may read the anchor's directory.
package struct RealFileSystem: FileSystem {
    private let anchor: DirectoryAnchor?

    package init() { anchor = nil }
    private init(_ anchor: DirectoryAnchor) { self.anchor = anchor }

    private var fileRights: mode_t { 0o600 | (anchor?.othersRights ?? 0) & 0o044 }

    /// Returns the directory descriptor and the name that system calls use for a path.
    private func place(_ path: String) -> (directory: Int32, name: String, isAnchored: Bool) {
        guard let anchor, let name = anchor.relativeName(of: path) else { return (AT_FDCWD, path, false) }
        return (anchor.descriptor, name, true)
    }

    private func openDescriptor(
        _ path: String, _ flags: Int32, rights: mode_t = 0o600, call: StaticString = "open"
    ) throws -> Int32 {
        let (directory, name, isAnchored) = place(path)
        let descriptor = openat(directory, name, flags | O_CLOEXEC | (isAnchored ? O_NOFOLLOW : 0), rights)
        guard descriptor < 0 else { return descriptor }
        let number = errno
        // The system reports a link in place of a directory as ENOTDIR.
        let isLink = number == ENOTDIR && isAnchoredLink(path)
        throw StrataError.systemCall(call, path: path, errno: isLink ? ELOOP : number)
    }

    private func isAnchoredLink(_ path: String) -> Bool {
        let (directory, name, isAnchored) = place(path)
        var status = stat()
        guard isAnchored, fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK
    }

    package func anchored(at directory: String) throws -> any FileSystem {
        if anchor?.relativeName(of: directory) == "." { return self }
        return RealFileSystem(try DirectoryAnchor(directory))
    }

    package func checkAnchor() throws { try anchor?.check() }

    package func openDirectory(_ path: String) throws -> (any File)? {
        RealFile(path: path, descriptor: try openDescriptor(path, O_RDONLY | O_DIRECTORY))
    }

    package func open(_ path: String, _ mode: OpenMode) throws -> any File {
        let flags =
            switch mode {
            // A pipe in place of a file is refused when it is read, not waited for.
            case .read: O_RDONLY | O_NONBLOCK
            case .write: O_RDWR
            case .create, .createPrivate: O_RDWR | O_CREAT | O_EXCL
            case .writeOrCreate: O_RDWR | O_CREAT
            }
        let rights = if case .createPrivate = mode { mode_t(0o600) } else { fileRights }
        return RealFile(path: path, descriptor: try openDescriptor(path, flags, rights: rights))
    }

    package func exists(_ path: String) throws -> Bool {
        let (directory, name, _) = place(path)
        if faccessat(directory, name, F_OK, 0) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw StrataError.systemCall("access", path: path, errno: errno)
        }
        return false
    }

    package func makeDirectory(_ path: String) throws {
        let (directory, name, _) = place(path)
        guard mkdirat(directory, name, 0o700 | (anchor?.othersRights ?? 0) & 0o055) != 0 else { return }
        let number = errno
        guard number == EEXIST, !isAnchoredLink(path) else {
            throw StrataError.systemCall("mkdir", path: path, errno: number == EEXIST ? ELOOP : number)
        }
    }

    package func rename(_ source: String, to target: String) throws {
        let (old, new) = (place(source), place(target))
        guard renameat(old.directory, old.name, new.directory, new.name) == 0 else {
            throw StrataError.systemCall("rename", path: source, errno: errno)
        }
    }

    package func hardLink(_ source: String, to target: String) throws {
        let (old, new) = (place(source), place(target))
        guard linkat(old.directory, old.name, new.directory, new.name, 0) == 0 else {
            throw StrataError.systemCall("link", path: target, errno: errno)
        }
    }

    package func remove(_ path: String) throws {
        let (directory, name, _) = place(path)
        guard unlinkat(directory, name, 0) == 0 else {
            throw StrataError.systemCall("unlink", path: path, errno: errno)
        }
    }

    package func list(_ directory: String) throws -> [String] {
        let descriptor = try openDescriptor(directory, O_RDONLY | O_DIRECTORY, call: "opendir")
        guard let stream = fdopendir(descriptor) else {
            let number = errno
            close(descriptor)
            throw StrataError.systemCall("opendir", path: directory, errno: number)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // Only errno distinguishes the end of `readdir` from an error.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw StrataError.systemCall("readdir", path: directory, errno: errno) }
        return names
    }

    package func syncDirectory(_ directory: String) throws {
        let descriptor = try openDescriptor(directory, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StrataError.systemCall("fsync", path: directory, errno: errno) }
    }

    package func freeBytes(of directory: String) throws -> Int? {
        let descriptor = try openDescriptor(directory, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else {
            throw StrataError.systemCall("fstatvfs", path: directory, errno: errno)
        }
        return Int(clamping: status.f_bavail &* status.f_frsize)
    }

    package func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? {
        let (directory, name, _) = place(path)
        return try SharedPage(path, use, at: directory, named: name, rights: fileRights)
    }
}
