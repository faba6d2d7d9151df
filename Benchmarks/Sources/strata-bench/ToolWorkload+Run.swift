import Glibc
import StrataSystem

/// One run of `strata` in a process of its own, its output read to the end.
struct ToolRun {
    var firstLineMilliseconds = 0.0
    var milliseconds = 0.0
    var byteCount = 0
    /// The most memory that it had at once.
    var peakMebibytes = 0.0
    var exitCode = 0

    /// Runs it under this program once more: a process counts as its own what the one that started it had, and that
    /// one has made stores.
    init(_ tool: String, _ arguments: [String], folder: String) throws {
        let results = "\(folder)/tool-run"
        defer { unlink(results) }
        let status = try Self.wait(for: Self.spawn("/proc/self/exe", [ToolMeter.word, results, tool] + arguments))
        guard status == 0 else { throw BenchError(message: "'strata \(arguments[0])' could not be measured") }
        let text = String(decoding: try RealFileSystem().readAll(results, atMost: 1_024), as: UTF8.self)
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 5 else { throw BenchError(message: "the figures of 'strata \(arguments[0])' are gone") }
        (firstLineMilliseconds, milliseconds) = (numbers[0], numbers[1])
        (byteCount, peakMebibytes, exitCode) = (Int(numbers[2]), numbers[3], Int(numbers[4]))
    }

    fileprivate init() {}

    fileprivate var text: String {
        "\(firstLineMilliseconds) \(milliseconds) \(byteCount) \(peakMebibytes) \(exitCode)"
    }

    /// - Parameter output: what the child has as its standard output; nil for the same.
    fileprivate static func spawn(_ path: String, _ arguments: [String], output: Int32? = nil) throws -> pid_t {
        let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { text in strdup(text) }
        defer { for word in words { free(word) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        var child: pid_t = 0
        guard posix_spawn(&child, path, &actions, nil, words + [nil], environ) == 0 else {
            throw BenchError(message: "\(path) cannot be started")
        }
        return child
    }

    fileprivate static func wait(for child: pid_t, _ usage: UnsafeMutablePointer<rusage>? = nil) throws -> Int {
        var status: Int32 = 0
        while wait4(child, &status, 0, usage) < 0 {
            guard errno == EINTR else { throw BenchError(message: "a process cannot be waited for") }
        }
        // Ended by itself, or by a signal.
        return status & 0x7F == 0 ? Int(status >> 8 & 0xFF) : -1
    }
}

/// This program once more, measuring one run of the tool.
enum ToolMeter {
    /// The first word of its command line.
    static let word = "--meter-tool"

    static func run(_ words: [String]) throws {
        guard words.count >= 3 else { throw UsageError(message: "\(word) is not for people") }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchError(message: "there is no pipe") }
        // The tool has a copy as its output, and must not hold this end open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var run = ToolRun()
        let start = secondsNow()
        let child = try ToolRun.spawn(words[1], Array(words[2...]), output: ends[1])
        close(ends[1])
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if run.firstLineMilliseconds == 0, buffer[..<count].contains(UInt8(ascii: "\n")) {
                run.firstLineMilliseconds = (secondsNow() - start) * 1_000
            }
            run.byteCount += count
        }
        var usage = rusage()
        run.exitCode = try ToolRun.wait(for: child, &usage)
        run.milliseconds = (secondsNow() - start) * 1_000
        run.peakMebibytes = Double(usage.ru_maxrss) / 1_024
        let text = Array(run.text.utf8)
        let results = try RealFileSystem().open(words[0], .create)
        try text.withUnsafeBytes { try results.write($0, at: 0) }
    }
}
