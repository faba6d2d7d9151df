import Glibc
import StrataModel

/// A command in a process of its own.
enum ShellCommand {
    /// Starts a command of the shell.
    ///
    /// - Parameters:
    ///   - descriptor: the file or pipe that the command has as `standard`, one of its standard descriptors.
    ///   - signals: the signals that this process handles or ignores. The command gets their defaults.
    static func start(
        _ command: String, with descriptor: Int32, as standard: Int32, signals numbers: [Int32]
    ) throws -> pid_t {
        try start(["/bin/sh", "-c", command], with: descriptor, as: [standard], signals: numbers)
    }

    /// Starts a program with its arguments, which no shell reads.
    ///
    /// - Parameter isApart: true for a program without input, in a process group of its own.
    static func start(
        _ line: [String], with descriptor: Int32, as standards: [Int32], signals numbers: [Int32],
        isApart: Bool = false
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for standard in standards { posix_spawn_file_actions_adddup2(&actions, descriptor, standard) }
        if isApart { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | (isApart ? Int16(POSIX_SPAWN_SETPGROUP) : 0))
        var words = line.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawnp(&child, line[0], &actions, &attributes, &words, environ)
        guard result == 0 else { throw StrataError.systemCall("posix_spawn", path: line[0], errno: result) }
        return child
    }

    /// Runs a program to its end with this process's standard descriptors, and returns its exit status, or 128 and the
    /// number of the signal that ended it.
    ///
    /// - Parameter descriptor: the file that it has as its standard output.
    static func run(
        _ line: [String], output descriptor: Int32 = STDOUT_FILENO, signals numbers: [Int32]
    ) throws -> Int32 {
        let child = try start(line, with: descriptor, as: [STDOUT_FILENO], signals: numbers)
        let status = try wait(for: child)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Waits for a process, to which signals are forwarded, and returns its status as `waitpid` does.
    static func wait(for child: pid_t) throws -> Int32 {
        var status: Int32 = 0
        StopRequest.forward(to: child)
        defer { StopRequest.forward(to: 0) }
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw StrataError.systemCall("waitpid", path: "/bin/sh", errno: errno) }
        }
        return status
    }

    /// The end of a command whose output is read.
    enum End {
        case status(Int32)
        /// It printed more than was asked for, or did not end in time, and was ended.
        case full, late
    }

    /// Runs a program and returns what it prints, problems included, up to a number of bytes and seconds.
    static func output(
        of line: [String], atMost maximumBytes: Int, seconds: Double
    ) throws -> (bytes: [UInt8], end: End) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StrataError.systemCall("pipe", path: "/bin/sh", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        // It ends also if this process does before it.
        let limited = ["/bin/sh", "-c", "ulimit -t \(Int(2 * seconds)); exec \"$0\" \"$@\""]
        let child: pid_t
        do {
            defer { close(ends[1]) }
            let standards = [STDOUT_FILENO, STDERR_FILENO]
            child = try start(limited + line, with: ends[1], as: standards, signals: [SIGPIPE], isApart: true)
        }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var bytes: [UInt8] = []
        var end: End?
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while end == nil {
            let left = (deadline - clock.now) / .milliseconds(1)
            var request = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            if left <= 0 || poll(&request, 1, Int32(left.rounded(.up))) == 0 {
                end = .late
            } else {
                let count = read(ends[0], &buffer, buffer.count)
                if count == 0 { break }
                if count > 0 { bytes += buffer.prefix(count) }
                if bytes.count > maximumBytes { end = .full }
            }
        }
        if end != nil { kill(-child, SIGKILL) }
        let status = try wait(for: child)
        return (Array(bytes.prefix(maximumBytes)), end ?? .status(status & 0x7F == 0 ? status >> 8 & 0xFF : 3))
    }
}
