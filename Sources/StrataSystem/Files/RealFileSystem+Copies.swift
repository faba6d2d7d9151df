import Glibc
import StrataModel

extension RealFileSystem {
    private static let pieceBytes = 1 << 20

    /// Links every file of a directory tree into a new directory, or copies it where the medium cannot link. For files
    /// that do not change once they are complete.
    ///
    /// ```swift
    /// try files.linkAll(in: "Notes.strata/assets", to: "Copy.strata/assets")
    /// ```
    /// - Parameter target: the directory to create; its parent must exist.
    package func linkAll(in source: String, to target: String) throws {
        try makeDirectory(target)
        for name in try list(source) {
            let (old, new) = ("\(source)/\(name)", "\(target)/\(name)")
            var status = stat()
            // A file that is removed during the copy is skipped.
            guard lstat(old, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                try linkAll(in: old, to: new)
            } else if status.st_mode & S_IFMT == S_IFREG, link(old, new) != 0 {
                try copy(old, to: new, .create)
            }
        }
    }

    /// Copies a file's bytes, piece by piece.
    ///
    /// - Parameter mode: how the target is opened.
    package func copy(_ source: String, to target: String, _ mode: OpenMode) throws {
        let old = try open(source, .read)
        defer { old.close() }
        let new = try open(target, mode)
        defer { new.close() }
        let size = try old.size()
        var position = 0
        while position < size {
            let piece = try old.read(count: min(Self.pieceBytes, size - position), at: position)
            guard !piece.isEmpty else { break }
            try new.write(piece, at: position)
            position += piece.count
        }
    }
}
