import Foundation
import Glibc

/// The lines typed in this session and in earlier ones.
struct LineHistory {
    private static let maximumLines = 1_000
    /// The maximum number of bytes read, from the end of the file.
    private static let maximumBytes: UInt64 = 1 << 20

    private(set) var lines: [String] = []
    /// Nil if lines are not saved.
    private let path: String?

    /// - Parameter path: the path of the file; nil if lines are not saved.
    init(path: String?) {
        self.path = path
        guard let path, let bytes = Self.read(path) else { return }
        let found = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        lines = Array(found.suffix(Self.maximumLines))
        if found.count > 2 * Self.maximumLines { write(lines.joined(separator: "\n") + "\n", O_TRUNC) }
    }

    /// Returns the usual place for a program's state (https://specifications.freedesktop.org/basedir-spec); nil if
    /// there is none.
    static func defaultPath() -> String? {
        func folder(_ name: String) -> String? { Environment.text(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let base = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else { return nil }
        return base + "/strata/debug_history"
    }

    /// Adds a line, unless it equals the last one.
    mutating func add(_ line: String) {
        guard !line.allSatisfy(\.isWhitespace), line != lines.last else { return }
        lines.append(line)
        if lines.count > Self.maximumLines { lines.removeFirst() }
        makeFolders()
        write(line + "\n", O_APPEND)
    }

    // MARK: The file, which is optional

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path), let end = try? file.seekToEnd() else { return nil }
        try? file.seek(toOffset: end - min(end, maximumBytes))
        return (try? file.readToEnd()).map { [UInt8]($0) }
    }

    private func makeFolders() {
        guard let path else { return }
        for (place, character) in zip(path.indices, path) where character == "/" && place != path.startIndex {
            mkdir(String(path[..<place]), 0o700)
        }
    }

    /// Writes to a file that only the user can read, because lines contain names of records.
    private func write(_ text: String, _ flag: Int32) {
        guard let path else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
