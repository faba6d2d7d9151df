import Glibc
import StrataModel
import StrataSystem
import Synchronization

/// A program started by a test, with its output in a pipe.
public final class ChildProcess {
    public let identifier: pid_t
    private let output: Int32
    private var buffer: [UInt8] = []
    private var hasEnded = false

    /// Programs of this package stand beside the one that runs the tests.
    public static func product(_ name: String) -> String {
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
    public static let spawning = Mutex(())

    public init(_ path: String, _ arguments: [String]) throws {
        (identifier, output) = try Self.spawning.withLock { _ in try Self.spawn(path, arguments) }
    }

    private static func spawn(_ path: String, _ arguments: [String]) throws -> (pid_t, Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StrataError.systemCall("pipe", path: path, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, path, &actions, nil, words + [nil], environ)
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
    public func readWhatIsThere() {
        var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, 0) > 0, readMore() {}
    }

    /// Returns once there is a line; false if the program ended without one.
    public func waitForLine() -> Bool {
        while !buffer.contains(0x0A) { if !readMore() { return false } }
        return true
    }

    /// SIGKILL, as the system does it when memory runs out; returns its status as `waitpid` gives it.
    @discardableResult
    public func kill() -> Int32 {
        if hasEnded { return 0 }
        hasEnded = true
        Glibc.kill(identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// All whole lines up to the end of the output.
    public func lines() -> [String] {
        while readMore() {}
        return buffer.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }
}
