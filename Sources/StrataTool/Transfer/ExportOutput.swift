import Foundation
import Glibc
import StrataModel
import StrataSystem

/// The target of an export: the standard output, or a file that gets its name only once it is complete.
struct ExportOutput {
    private struct File {
        let descriptor: Int32
        /// The temporary name until the file is complete; nil if the path is not a regular file and is written
        /// directly.
        let draft: String?
        let path: String
    }

    private let output: Output
    private let file: File?

    /// - Parameters:
    ///   - path: the path of the file; nil or `-` for the standard output.
    ///   - store: the store whose files must not be overwritten.
    init(_ path: String?, store: String, standard output: Output) throws {
        guard let path, path != "-" else {
            (self.output, file) = (output, nil)
            return
        }
        let file = try Self.open(path, store: store)
        self.output = Output(descriptor: file.descriptor)
        self.file = file
    }

    private static func open(_ path: String, store: String) throws -> File {
        // A symbolic link is kept, and its target is replaced.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let storePath = URL(fileURLWithPath: store).resolvingSymlinksInPath().path
        guard !target.hasPrefix(storePath + "/") else {
            throw UsageError("FILE is inside STORE; choose another path")
        }
        var status = stat()
        let isThere = stat(target, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw UsageError("FILE is a directory") }
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            return File(descriptor: try open(target, O_WRONLY), draft: nil, path: target)
        }
        let draft = "\(target).exporting-\(hexadecimal(UInt32.random(in: 0...UInt32.max)))"
        Cleanup.removes(draft)
        let descriptor = try open(draft, O_WRONLY | O_CREAT | O_EXCL, for: target)
        return File(descriptor: descriptor, draft: draft, path: target)
    }

    /// - Parameter target: the path that the user gave, for error messages if a draft is opened instead.
    private static func open(_ path: String, _ flags: Int32, for target: String? = nil) throws -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: target ?? path, errno: errno) }
        return descriptor
    }

    /// Calls `body` with the output. If it succeeds, gives the file its name, replacing an existing file.
    ///
    /// Returns the name of an incomplete file; nil if the file is complete.
    ///
    /// - Parameter body: returns true if everything was written; otherwise the file's name ends in `.partial`.
    func write(_ body: (Output) throws -> Bool) throws -> String? {
        let isWhole: Bool
        do {
            isWhole = try body(output)
            try output.flush()
        } catch {
            discard()
            throw error
        }
        guard let file else { return nil }
        guard let draft = file.draft else {
            close(file.descriptor)
            return nil
        }
        guard fsync(file.descriptor) == 0 else {
            let error = StrataError.systemCall("fsync", path: file.path, errno: errno)
            discard()
            throw error
        }
        close(file.descriptor)
        let path = isWhole ? file.path : file.path + ".partial"
        try RealFileSystem().rename(draft, to: path)
        Cleanup.keep(draft)
        return isWhole ? nil : path
    }

    /// Removes the draft if nothing will be written after all.
    func discard() {
        guard let file else { return }
        close(file.descriptor)
        guard let draft = file.draft else { return }
        unlink(draft)
        Cleanup.keep(draft)
    }
}
