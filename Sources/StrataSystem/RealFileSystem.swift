import Glibc
import StrataModel

/// Files of this machine.
public struct RealFileSystem: FileSystem {
    public init() {}

    public func open(_ path: String, _ mode: OpenMode) throws -> any File {
        let flags =
            switch mode {
            // A pipe in the place of a file is refused when it is read, instead of waited for.
            case .read: O_RDONLY | O_NONBLOCK
            case .write: O_RDWR
            case .create, .createPrivate: O_RDWR | O_CREAT | O_EXCL
            case .writeOrCreate: O_RDWR | O_CREAT
            }
        let isPrivate = if case .createPrivate = mode { true } else { false }
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
        return RealFile(path: path, descriptor: descriptor)
    }

    public func exists(_ path: String) throws -> Bool {
        if access(path, F_OK) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw StrataError.systemCall("access", path: path, errno: errno)
        }
        return false
    }

    public func makeDirectory(_ path: String) throws {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw StrataError.systemCall("mkdir", path: path, errno: errno)
        }
    }

    public func rename(_ source: String, to target: String) throws {
        guard Glibc.rename(source, target) == 0 else {
            throw StrataError.systemCall("rename", path: source, errno: errno)
        }
    }

    public func remove(_ path: String) throws {
        guard unlink(path) == 0 else { throw StrataError.systemCall("unlink", path: path, errno: errno) }
    }

    public func list(_ directory: String) throws -> [String] {
        guard let stream = opendir(directory) else {
            throw StrataError.systemCall("opendir", path: directory, errno: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // `readdir` tells its end and its errors apart by errno alone.
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

    public func syncDirectory(_ directory: String) throws {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: directory, errno: errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StrataError.systemCall("fsync", path: directory, errno: errno) }
    }

    public func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? {
        try SharedPage(path, use)
    }
}
