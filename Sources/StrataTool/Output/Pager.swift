import Glibc
import Synchronization

/// A program that shows output page by page at a terminal: `$STRATA_PAGER`, else `$PAGER`, else `less`.
struct Pager {
    private let child: pid_t
    /// The descriptor for text to show.
    let descriptor: Int32

    /// Returns nil if there is no terminal, or if no pager is wanted or can be started.
    ///
    /// - Parameter tool: the command to name in a message about a missing pager.
    init?(by tool: String) {
        guard isatty(STDOUT_FILENO) == 1, let command = Self.command() else { return nil }
        guard Self.isThere(command) else {
            Diagnostics.remark("the pager '\(command)' does not exist; printing without one", by: tool)
            return nil
        }
        // Like git: less ends by itself if all fits the screen, shows colors, and leaves its output on the screen.
        setenv("LESS", "FRX", 0)
        let before = Self.waitWhenInterrupted()
        guard let (child, descriptor) = Self.start(command) else {
            signal(SIGINT, before)
            if Self.isInterrupted.load(ordering: .sequentiallyConsistent) { raise(SIGINT) }
            return nil
        }
        (self.child, self.descriptor) = (child, descriptor)
        Self.began(child, descriptor)
    }

    /// Waits until the user closes the pager.
    func finish() {
        close(descriptor)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    private static func command() -> String? {
        let wanted = Environment.text("STRATA_PAGER") ?? Environment.text("PAGER")
        if let wanted { return wanted.isEmpty || wanted == "cat" ? nil : wanted }
        return isProgram("less") ? "less" : nil
    }

    /// Returns true if the shell can find the pager; assumes so for anything but plain words.
    private static func isThere(_ command: String) -> Bool {
        let special = "|&;<>()$`\\\"'*?[]#~=%!{}\n\t"
        guard !command.contains(where: { special.contains($0) }),
            let first = command.split(separator: " ").first.map({ String($0) })
        else { return true }
        return ["exec", "command", "eval"].contains(first) || isProgram(first)
    }

    private static func isProgram(_ name: String) -> Bool {
        if name.contains("/") { return access(name, X_OK) == 0 }
        let folders = (Environment.text("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    private static func start(_ command: String) -> (pid_t, Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        // This process ignores SIGPIPE. The pager must not inherit that.
        guard let child = try? ShellCommand.start(command, with: ends[0], as: STDIN_FILENO, signals: [SIGPIPE]) else {
            close(ends[1])
            return nil
        }
        return (child, ends[1])
    }

    // A signal handler has no context.
    private static let waitedFor = Atomic<pid_t>(0)
    private static let shown = Atomic<Int32>(-1)
    private static let isInterrupted = Atomic(false)

    /// Makes an interrupt end the tool only after the pager, which owns the terminal until then. Call it before the
    /// pager starts, because the pager may change the terminal immediately.
    ///
    /// Returns the handler that was installed before.
    private static func waitWhenInterrupted() -> (@convention(c) (Int32) -> Void)? {
        // The first access initializes them, which a signal handler must not do.
        shown.store(-1, ordering: .sequentiallyConsistent)
        waitedFor.store(0, ordering: .sequentiallyConsistent)
        isInterrupted.store(false, ordering: .sequentiallyConsistent)
        return signal(SIGINT) { _ in
            Pager.isInterrupted.store(true, ordering: .sequentiallyConsistent)
            if Pager.waitedFor.load(ordering: .sequentiallyConsistent) != 0 { Pager.endWithPager() }
        }
    }

    private static func began(_ child: pid_t, _ descriptor: Int32) {
        shown.store(descriptor, ordering: .sequentiallyConsistent)
        waitedFor.store(child, ordering: .sequentiallyConsistent)
        if isInterrupted.load(ordering: .sequentiallyConsistent) { endWithPager() }
    }

    private static func endWithPager() {
        close(shown.load(ordering: .sequentiallyConsistent))
        var status: Int32 = 0
        while waitpid(waitedFor.load(ordering: .sequentiallyConsistent), &status, 0) < 0, errno == EINTR {}
        _exit(130)
    }
}
