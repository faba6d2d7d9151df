import Glibc
import StrataModel
import StrataSystem
import TestSupport

/// What a run of the tool left behind.
struct ToolResult: Sendable {
    var code: Int32
    var output: String
    var errors: String

    var lines: [Substring] { output.split(separator: "\n") }

    /// Whether a command has reported a problem that begins so, as text or, with `--json`, as an object.
    func reports(_ problem: String = "", by command: String) -> Bool {
        errors.hasPrefix("strata \(command): \(problem)")
            || errors.hasPrefix(#"{"error":{"code":""#) && errors.contains(#"","message":"\#(problem)"#)
    }
}

/// The real tool as a child process: its output comes through a pipe, its errors go to a file.
final class ToolProcess {
    let identifier: pid_t
    private var pipe: Int32
    private let errorPath: String
    private var pending: [UInt8] = []
    private var hasEnded = false

    /// Beside the test bundle, where the build puts all its products.
    static var toolPath: String {
        get throws { try buildDirectory() + "/strata" }
    }

    private static func buildDirectory() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        var path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        while let slash = path.lastIndex(of: "/") {
            path = String(path[..<slash])
            if access(path + "/strata", X_OK) == 0 { return path }
        }
        throw StrataError(.notFound, "The strata tool is not beside the tests; build the product 'strata'.")
    }

    /// - Parameters:
    ///   - directory: where it runs, so that outputs can name stores without their folder.
    ///   - isRead: false if whoever was to read its output is gone before it begins.
    ///   - environment: variables that only it has, as `NAME=VALUE`.
    init(
        _ words: [String], in directory: String, program: String? = nil, isRead: Bool = true, environment: [String] = []
    ) throws {
        let program = try program ?? Self.toolPath
        let errors = "\(directory)/errors-\(UInt64.random(in: 0...UInt64.max))"
        errorPath = errors
        (identifier, pipe) = try ChildProcess.spawning.withLock { _ in
            let variables = environment.isEmpty ? [] : ["/usr/bin/env"] + environment
            return try Self.spawn(variables + [program] + words, in: directory, errors: errors, isRead: isRead)
        }
    }

    private static func spawn(
        _ words: [String], in directory: String, errors: String, isRead: Bool
    ) throws -> (pid_t, Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw StrataError.systemCall("pipe", path: words[0], errno: errno) }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        if !isRead {
            close(ends[0])
            ends[0] = -1
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        // Threads of the test run block signals, and a shell may have it ignore some; a user's tool starts afresh.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let shell = ["sh", "-c", "unset COLUMNS STRATA_STORE STRATA_USER; cd \"$0\" && exec \"$@\"", directory] + words
        var arguments = shell.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, "/bin/sh", &actions, &attributes, &arguments, environ)
        guard result == 0 else {
            if isRead { close(ends[0]) }
            throw StrataError.systemCall("posix_spawn", path: words[0], errno: result)
        }
        return (child, ends[0])
    }

    deinit {
        closePipe()
        if !hasEnded {
            kill(identifier, SIGKILL)
            _ = try? wait()
        }
    }

    /// Runs the tool to its end.
    static func run(_ words: String..., in directory: String) throws -> ToolResult {
        try ToolProcess(words, in: directory).finish()
    }

    static func run(
        _ words: [String], in directory: String, program: String? = nil, environment: [String] = []
    ) throws -> ToolResult {
        try ToolProcess(words, in: directory, program: program, environment: environment).finish()
    }

    /// The next line without its end; nil at the end of the output.
    func readLine() throws -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard try readMore() else { return nil }
        }
    }

    /// Longer than any run takes on a busy machine; a tool that hangs fails its test instead of holding up all of them.
    private static let patienceMilliseconds: Int32 = 120_000

    /// Whether it has said something that was not read yet.
    func hasOutput(within milliseconds: Int32) throws -> Bool {
        var request = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        return !pending.isEmpty || poll(&request, 1, milliseconds) > 0
    }

    private func readMore() throws -> Bool {
        guard try hasOutput(within: Self.patienceMilliseconds) else {
            throw StrataError(
                .interrupted, "The tool says nothing more and does not end.",
                .init(found: String(decoding: pending.suffix(200), as: UTF8.self)))
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = buffer.withUnsafeMutableBytes { read(pipe, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw StrataError.systemCall("read", path: "the tool's output", errno: errno) }
        pending += buffer.prefix(count)
        return count > 0
    }

    /// What `head` does once it has seen enough.
    func closePipe() {
        if pipe >= 0 { close(pipe) }
        pipe = -1
    }

    func finish() throws -> ToolResult {
        while pipe >= 0, try readMore() {}
        closePipe()
        let output = String(decoding: pending, as: UTF8.self)
        return ToolResult(code: try wait(), output: output, errors: try errors())
    }

    /// The exit code; 128 + n for a process that signal n ended.
    func wait() throws -> Int32 {
        var status: Int32 = 0
        for _ in 0..<Self.patienceMilliseconds where !hasEnded {
            let ended = waitpid(identifier, &status, WNOHANG)
            guard ended >= 0 else { throw StrataError.systemCall("waitpid", path: "strata", errno: errno) }
            hasEnded = ended == identifier
            if !hasEnded { usleep(1_000) }
        }
        guard hasEnded else { throw StrataError(.interrupted, "The tool does not end.") }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    func errors() throws -> String {
        String(decoding: try RealFileSystem().readAll(errorPath, atMost: 1 << 20), as: UTF8.self)
    }
}
