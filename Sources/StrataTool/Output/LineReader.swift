import Glibc
import StrataModel
import StrataSystem

/// Reads a file, a pipe or the standard input line by line, and keeps one line in memory.
final class LineReader {
    /// Enough for the largest commit, in base64 and again in decoded form.
    private static let maximumBytes = 512 << 20
    private static let pieceBytes = 256 << 10

    let path: String
    /// The number of the last line returned; the first is 1.
    private(set) var number = 0
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// - Parameter path: the path of the file; `-` for the standard input.
    init(_ path: String) throws {
        self.path = path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Calls `body` with the next line, without its end; returns nil at the end of the file.
    func next<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        var searched = start
        while true {
            if let end = lineEnd(from: searched) { return try give(end, next: end + 1, body) }
            searched = buffer.count
            if isAtEnd { return searched > start ? try give(searched, next: searched, body) : nil }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            guard buffer.count <= Self.maximumBytes else {
                throw StrataError(
                    .tooLarge, "A line is too long.",
                    .init(path: path, expected: "at most \(Self.maximumBytes) bytes", line: number + 1))
            }
            try readMore()
        }
    }

    private func give<Result>(
        _ end: Int, next: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        number += 1
        Progress.note(UInt64(number), of: 0)
        let line = start..<end
        start = next
        do {
            return try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[line])) }
        } catch let error as StrataError where error.context.line == nil {
            var located = error.located(path: path)
            located.context.line = number
            throw located
        }
    }

    private func lineEnd(from place: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, place < bytes.count,
                let found = memchr(base + place, 0x0A, bytes.count - place)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private func readMore() throws {
        let count = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.pieceBytes))
        var found = 0
        repeat {
            found = buffer.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress.map { $0 + count }, Self.pieceBytes)
            }
        } while found < 0 && errno == EINTR
        let failure = errno
        buffer.removeLast(Self.pieceBytes - max(0, found))
        guard found >= 0 else { throw StrataError.systemCall("read", path: path, errno: failure) }
        isAtEnd = found == 0
    }
}
