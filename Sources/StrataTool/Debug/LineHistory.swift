import Glibc

/// The lines that somebody has typed, in this session and the ones before.
struct LineHistory {
    private static let maximumLines = 1_000
    /// Of a file that is longer only the end is read.
    private static let maximumBytes = 1 << 20

    private(set) var lines: [String] = []
    /// Nil for lines that are not kept.
    private let path: String?

    /// - Parameter path: nil for lines that are not kept.
    init(path: String?) {
        self.path = path
        guard let path, let bytes = Self.read(path) else { return }
        let found = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        lines = Array(found.suffix(Self.maximumLines))
        if found.count > 2 * Self.maximumLines { write(lines.joined(separator: "\n") + "\n", O_TRUNC) }
    }

    /// Where the user's programs keep such things (https://specifications.freedesktop.org/basedir-spec); nil if there
    /// is no such place.
    static func defaultPath() -> String? {
        func folder(_ name: String) -> String? { Environment.text(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let base = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else { return nil }
        return base + "/strata/debug_history"
    }

    /// A line that is the same as the last one is no other.
    mutating func add(_ line: String) {
        guard !line.allSatisfy(\.isWhitespace), line != lines.last else { return }
        lines.append(line)
        if lines.count > Self.maximumLines { lines.removeFirst() }
        makeFolders()
        write(line + "\n", O_APPEND)
    }

    // MARK: The file, which may be missing: a session goes on without it

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        guard length > 0 else { return nil }
        lseek(descriptor, max(0, length - maximumBytes), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: min(length, maximumBytes))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    private func makeFolders() {
        guard let path else { return }
        for (place, character) in zip(path.indices, path) where character == "/" && place != path.startIndex {
            mkdir(String(path[..<place]), 0o700)
        }
    }

    /// Names of records are nobody else's business.
    private func write(_ text: String, _ flag: Int32) {
        guard let path else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
