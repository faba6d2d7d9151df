import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport

/// Prints offset and chain value of each commit from an offset on, as another process writes them, up to the one that
/// says it is the last.
///
/// - `thread`: waits on a thread instead of in a task.
/// - `nobody`: as a user who may only read, where this process may choose.
/// - `skip` and `repeat`: leaves the tenth commit out, or prints it twice: bugs, which whoever reads this must notice.
struct Follower {
    private let store: String
    private let first: UInt64
    private let modes: Set<String>

    init(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count >= 2, let first = UInt64(words[1]) else {
            fail("usage: crash-child follow STORE OFFSET [thread] [nobody] [skip] [repeat]")
        }
        (store, self.first, modes) = (words[0], first, Set(words.dropFirst(2)))
    }

    func run() throws {
        // Whoever waits for this must not wait for ever.
        alarm(120)
        if modes.contains("nobody"), geteuid() == 0 {
            guard setgid(65_534) == 0, setuid(65_534) == 0 else { fail("cannot become nobody") }
        }
        let reader = try LogReader.open(at: store)
        if modes.contains("thread") { return try follow(reader) }
        let done = Gate()
        Task {
            do {
                for try await commit in reader.follow(from: first) where try tell(commit) { break }
            } catch { fail("\(error)") }
            done.open()
        }
        done.wait()
    }

    private func follow(_ reader: LogReader) throws {
        var cursor = try reader.read(from: first)
        var seen = first - 1
        while true {
            while let commit = try cursor.next() {
                seen = commit.offset
                if try tell(commit) { return }
            }
            _ = try reader.wait(past: seen, milliseconds: 1_000)
        }
    }

    /// - Returns: whether it is the last.
    private func tell(_ commit: Commit) throws -> Bool {
        let isTenth = commit.offset == first + 9
        if !(isTenth && modes.contains("skip")) { say("\(commit.offset) \(commit.chain)") }
        if isTenth && modes.contains("repeat") { say("\(commit.offset) \(commit.chain)") }
        return try Envelope(decoding: commit.payload).header.operationID == PacedWriter.lastOperation
    }
}
