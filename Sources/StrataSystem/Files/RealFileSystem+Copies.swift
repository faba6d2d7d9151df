import Glibc
import StrataModel

extension RealFileSystem {
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
        try new.copyContent(of: old, 0..<old.size())
    }
}

extension File {
    /// Copies bytes of a file to the same places in this file, piece by piece.
    package func copyContent(of source: any File, _ range: Range<Int>) throws {
        var position = range.lowerBound
        while position < range.upperBound {
            let piece = try source.read(count: min(1 << 20, range.upperBound - position), at: position)
            guard !piece.isEmpty else {
                throw StrataError(
                    .inputOutput, "A file was truncated while it was read.",
                    .init(position: UInt64(position), path: source.path, expected: "\(range.upperBound) bytes"))
            }
            try write(piece, at: position)
            position += piece.count
        }
    }
}
