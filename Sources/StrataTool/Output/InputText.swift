import Glibc
import StrataModel
import StrataSystem

/// Reads the text for a command from a file, a pipe or the standard input.
enum InputText {
    /// A longer text is taken for a mistake.
    static let maximumBytes = SchemaDefinition.maximumTextBytes

    /// - Parameter path: `-` for the standard input.
    static func read(_ path: String) throws -> String {
        let bytes = try bytes(path, atMost: maximumBytes, tooLong: "The schema file is too long.")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StrataError(.invalidArgument, "The file is not text.", .init(path: path, expected: "valid UTF-8"))
        }
        return text
    }

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - tooLong: The message of the error if there are more bytes.
    static func bytes(_ path: String, atMost maximumBytes: Int, tooLong: StaticString) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw StrataError.systemCall("read", path: path, errno: errno) }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= maximumBytes else {
                throw StrataError(
                    .tooLarge, tooLong,
                    .init(path: path, expected: "at most \(maximumBytes) bytes", found: "more"))
            }
        }
        return bytes
    }
}
