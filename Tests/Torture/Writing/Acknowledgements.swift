import Foundation
import Glibc
import StrataModel
import StrataSystem

/// The file in which a writing child keeps what it was told: each line is one call of the system, which a child that is
/// killed has made or has not.
final class Acknowledgements: Sendable {
    private let descriptor: Int32

    init(at path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
    }

    private func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        // The limit on the size of files holds for this one too. What cannot be noted any more must not be done.
        if count != bytes.count { _exit(0) }
    }

    func begin(_ writer: Int, _ number: Int) { append("i \(writer) \(number)") }
    func acknowledge(_ writer: Int, _ number: Int, _ offset: UInt64?) { append("a \(writer) \(number) \(offset ?? 0)") }
    func fail(_ writer: Int, _ number: Int, _ error: any Error) { append("e \(writer) \(number) \(error)") }

    /// What a writer was told, from all its runs.
    struct Told {
        /// The last request that was begun, and the last one that was acknowledged.
        var begun = 0
        var acknowledged = 0
        /// Commits of acknowledged requests of the run, where the writer learned them.
        var offsets: [(number: Int, offset: UInt64)] = []
        var error: String?
    }

    static func read(_ path: String) -> [Int: Told] {
        var writers: [Int: Told] = [:]
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        // Without its newline, the last line may have been cut short.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count >= 3, let writer = Int(words[1]), let number = Int(words[2]) else { continue }
            switch words[0] {
            case "i": writers[writer, default: Told()].begun = number
            case "a":
                writers[writer, default: Told()].acknowledged = number
                if words.count == 4, let offset = UInt64(words[3]), offset > 0 {
                    writers[writer]?.offsets.append((number, offset))
                }
            default: writers[writer, default: Told()].error = words.count == 4 ? String(words[3]) : "unknown"
            }
        }
        return writers
    }
}
