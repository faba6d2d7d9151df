import Glibc
import StrataModel
import StrataSystem
import Synchronization

/// A program started by a test, with its output in a pipe.
package final class ChildProcess {
    package let identifier: pid_t
    private let output: Int32
    private var buffer: [UInt8] = []
    private var hasEnded = false

    /// Programs of this package stand beside the one that runs the tests.
    package static func product(_ name: String) -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes {
            guard let start = $0.baseAddress else { return -1 }
            return readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), $0.count)
        }
        let path = String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return folder.joined(separator: "/") + "/" + name
    }

    /// Between opening a pipe or a terminal and marking it, no other child may start: it would keep it open.
    package static let spawning = Mutex(())

    /// - Parameters:
    ///   - environment: variables beside those of this process.
    ///   - errors: the file to which its standard error is appended; nil for that of this process.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], errors: String? = nil
    ) throws {
        (identifier, output) = try Self.spawning.withLock { _ in
            try Self.spawn(path, arguments, environment, errors)
        }
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ errors: String?
    ) throws -> (pid_t, Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StrataError.systemCall("pipe", path: path, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if let errors { posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600) }
        let words = ([path] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for word in words + variables { free(word) } }
        var inherited: [UnsafeMutablePointer<CChar>?] = []
        while let variable = environ[inherited.count] { inherited.append(variable) }
        var child: pid_t = 0
        // The first of two that have one name counts.
        let result = posix_spawn(&child, path, &actions, nil, words + [nil], variables + inherited + [nil])
        close(ends[1])
        guard result == 0 else {
            close(ends[0])
            throw StrataError.systemCall("posix_spawn", path: path, errno: result)
        }
        return (child, ends[0])
    }

    deinit {
        kill()
        close(output)
    }

    /// Waits for more output; false at its end.
    private func readMore() -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = read(output, &piece, piece.count)
        if count > 0 { buffer += piece[..<count] }
        return count > 0 || (count < 0 && errno == EINTR)
    }

    /// Takes what it has said so far: one that nobody reads stands still once its pipe is full.
    package func readWhatIsThere() {
        var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, 0) > 0, readMore() {}
    }

    /// Returns once there is a line; false if the program ended without one.
    package func waitForLine() -> Bool {
        while !buffer.contains(0x0A) { if !readMore() { return false } }
        return true
    }

    /// What came of waiting for a line.
    package enum LineReading {
        case line(String)
        /// The output ended.
        case end
        /// There was none in time.
        case silence
    }

    /// Takes the next line, for which it waits no longer than this.
    package func nextLine(withinSeconds seconds: Double) -> LineReading {
        let start = ContinuousClock.now
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                defer { buffer.removeSubrange(...end) }
                return .line(String(decoding: buffer[..<end], as: UTF8.self))
            }
            let left = Duration.seconds(seconds) - start.duration(to: .now)
            guard left > .zero else { return .silence }
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&request, 1, Int32(left / .milliseconds(1)) + 1) > 0, !readMore() { return .end }
        }
    }

    /// Waits for its end; returns its status as `waitpid` gives it.
    package func wait() -> Int32 {
        if hasEnded { return 0 }
        hasEnded = true
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// SIGKILL, as the system does it when memory runs out; returns its status as `waitpid` gives it.
    @discardableResult
    package func kill() -> Int32 {
        if hasEnded { return 0 }
        Glibc.kill(identifier, SIGKILL)
        return wait()
    }

    /// All whole lines up to the end of the output.
    package func lines() -> [String] {
        while readMore() {}
        return buffer.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }
}
