import Glibc
import StrataModel

extension RealFileSystem {
    private static let pieceBytes = 1 << 20

    /// Gives every file in a directory and those below it a second name in another one; where the medium cannot, copies
    /// it. For files that nobody changes once they are whole.
    ///
    /// ```swift
    /// try files.linkAll(in: "Notes.strata/assets", to: "Copy.strata/assets")
    /// ```
    /// - Parameter target: is made; the directory around it must exist.
    public func linkAll(in source: String, to target: String) throws {
        try makeDirectory(target)
        for name in try list(source) {
            let (old, new) = ("\(source)/\(name)", "\(target)/\(name)")
            var status = stat()
            // What somebody removes meanwhile is not missed.
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
    /// - Parameter mode: how the new one is made.
    public func copy(_ source: String, to target: String, _ mode: OpenMode) throws {
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
