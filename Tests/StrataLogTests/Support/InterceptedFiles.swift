import StrataModel
import StrataSystem
import TestSupport

/// Files whose every change is announced first: the listener may throw in its place, or say that it is not to be done.
struct InterceptedFiles: FileSystem {
    /// Whether the call is to be done; a call that is not seems to have succeeded.
    typealias Listener = @Sendable (SimulatedDisk.CallKind, String) throws -> Bool

    let files: any FileSystem
    let listener: Listener

    init(_ files: any FileSystem, listener: @escaping Listener) {
        self.files = files
        self.listener = listener
    }

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        switch mode {
        case .read, .write: break
        // A file cannot be made and not made, so that the answer counts only if it is an error.
        case .create, .createPrivate, .writeOrCreate: _ = try listener(.create, path)
        }
        return InterceptedFile(try files.open(path, mode), listener)
    }

    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }

    func makeDirectory(_ path: String) throws {
        if try listener(.makeDirectory, path) { try files.makeDirectory(path) }
    }

    func rename(_ source: String, to target: String) throws {
        if try listener(.rename, target) { try files.rename(source, to: target) }
    }

    func remove(_ path: String) throws {
        if try listener(.remove, path) { try files.remove(path) }
    }

    func syncDirectory(_ directory: String) throws {
        if try listener(.syncDirectory, directory) { try files.syncDirectory(directory) }
    }
}

private final class InterceptedFile: ForwardingFile {
    let file: any File
    let listener: InterceptedFiles.Listener

    init(_ file: any File, _ listener: @escaping InterceptedFiles.Listener) {
        self.file = file
        self.listener = listener
    }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        try listener(.write, path) ? try file.writeSome(source, at: position) : source.count
    }

    func syncData() throws {
        if try listener(.syncData, path) { try file.syncData() }
    }

    func allocate(_ range: Range<Int>) throws {
        if try listener(.allocate, path) { try file.allocate(range) }
    }

    func truncate(to size: Int) throws {
        if try listener(.truncate, path) { try file.truncate(to: size) }
    }
}

extension SimulatedDisk.CallKind {
    /// Whether such a call changes anything: a disk looks the same before and after all others.
    var isChange: Bool {
        switch self {
        case .create, .write, .syncData, .allocate, .truncate, .touch, .makeDirectory, .rename, .remove, .syncDirectory:
            true
        case .open, .exists, .size, .read, .map, .lock, .list: false
        }
    }
}
