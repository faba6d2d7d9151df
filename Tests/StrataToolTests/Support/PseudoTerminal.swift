import Glibc
import StrataModel
import StrataSystem
import TestSupport

/// A program at a terminal of its own: what it shows comes to the test, and the test types.
final class PseudoTerminal {
    private let identifier: pid_t
    private let leader: Int32
    /// Kept open, so that what the terminal is set to can be asked when the program has gone.
    private let follower: Int32
    private(set) var shown: [UInt8] = []
    private var status: Int32?

    var text: String { String(decoding: shown, as: UTF8.self) }

    /// - Parameters:
    ///   - line: for the shell, which becomes the first program.
    ///   - columns: of the terminal; 0 for one that does not say.
    init(_ line: String, in directory: String, columns: UInt16 = 0) throws {
        (identifier, leader, follower) = try ChildProcess.spawning.withLock { _ in
            try Self.spawn("unset COLUMNS; cd '\(directory)' && \(line)", columns)
        }
    }

    private static func spawn(_ line: String, _ columns: UInt16) throws -> (pid_t, Int32, Int32) {
        var (leader, follower): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 256)
        guard openpty(&leader, &follower, nil, nil, nil) == 0, ttyname_r(follower, &name, name.count) == 0 else {
            throw StrataError.systemCall("openpty", path: "/dev/ptmx", errno: errno)
        }
        var size = winsize(ws_row: columns == 0 ? 0 : 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(leader, UInt(TIOCSWINSZ), &size)
        for end in [leader, follower] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens is the session's.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR, 0)
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGPIPE, SIGQUIT] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // POSIX_SPAWN_SETSID, which the module of the library does not name.
        let newSession: Int32 = 0x80
        posix_spawnattr_setflags(
            &attributes, Int16(Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | newSession))
        let shell: [String] = ["sh", "-c", line]
        var words = shell.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, "/bin/sh", &actions, &attributes, &words, environ)
        guard result == 0 else { throw StrataError.systemCall("posix_spawn", path: "/bin/sh", errno: result) }
        return (child, leader, follower)
    }

    deinit {
        if status == nil { end() }
        close(follower)
        close(leader)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(leader, $0.baseAddress, $0.count) }
    }

    /// Sends the program a signal.
    func signal(_ number: Int32) { kill(identifier, number) }

    /// Longer than any run takes on a busy machine.
    private static let patience = Duration.seconds(120)

    /// Reads until it shows a text; false if it has ended before, or does not show it in time.
    ///
    /// - Parameter start: of what is shown, from where on the text counts.
    func waits(for wanted: String, from start: Int = 0) -> Bool {
        func isShown() -> Bool { String(decoding: shown[start...], as: UTF8.self).contains(wanted) }
        read(until: isShown)
        return isShown()
    }

    /// The exit code; 128 + n for a process that signal n ended, nil for one that does not end in time.
    func finish() -> Int32? {
        guard read(until: { false }), let status else { return nil }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Reads until `isDone`, or the program has ended. One that takes too long is killed, and false returned: what the
    /// test waits for after that fails at once.
    @discardableResult private func read(until isDone: () -> Bool) -> Bool {
        let limit = ContinuousClock.now + Self.patience
        while !isDone() {
            // In this order, so that what a program that has ended had shown is read.
            let isLast = hasEnded()
            readMore(milliseconds: 10, until: limit)
            if isLast { return true }
            if ContinuousClock.now >= limit {
                end()
                return false
            }
        }
        return true
    }

    /// Whether what is typed is shown, and line by line, as a shell leaves a terminal.
    var isRestored: Bool {
        var settings = termios()
        guard tcgetattr(follower, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ECHO) != 0 && settings.c_lflag & tcflag_t(ICANON) != 0
    }

    /// Whether keys such as ^C send signals, as they do not while a line is edited.
    var takesSignals: Bool {
        var settings = termios()
        return tcgetattr(follower, &settings) == 0 && settings.c_lflag & tcflag_t(ISIG) != 0
    }

    /// Kills the shell and what it has started.
    private func end() {
        kill(-identifier, SIGKILL)
        var found: Int32 = 0
        if waitpid(identifier, &found, 0) == identifier { status = found }
    }

    private func hasEnded() -> Bool {
        var found: Int32 = 0
        if status == nil, waitpid(identifier, &found, WNOHANG) == identifier { status = found }
        return status != nil
    }

    private func readMore(milliseconds: Int32, until limit: ContinuousClock.Instant) {
        var request = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
        var wait = milliseconds
        while ContinuousClock.now < limit, poll(&request, 1, wait) > 0, request.revents & Int16(POLLIN) != 0 {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(leader, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            shown += buffer.prefix(count)
            wait = 0
        }
    }
}
