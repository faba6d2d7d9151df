import Glibc

/// Makes a terminal deliver each key immediately and without echo during a session, and always restores it.
///
/// Input typed while a command runs is kept for the next line.
enum TerminalMode {
    private static let endingSignals = [SIGTERM, SIGHUP, SIGQUIT]

    // A signal handler has no context. These are set before it is installed, and only one session exists at a time.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isChanged = false

    /// Delivers every key to the line that is typed.
    ///
    /// Returns false if the standard input is not a terminal.
    static func enterTyping() -> Bool { change(keepingSignals: false) }

    /// Lets Ctrl-C interrupt the running command.
    static func enterRunning() { _ = change(keepingSignals: true) }

    static func leave() {
        guard isChanged else { return }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
        isChanged = false
    }

    private static func change(keepingSignals: Bool) -> Bool {
        if !isChanged {
            guard tcgetattr(STDIN_FILENO, &saved) == 0 else { return false }
            for number in endingSignals {
                signal(number) { number in
                    TerminalMode.leave()
                    signal(number, SIG_DFL)
                    raise(number)
                }
            }
        }
        var settings = saved
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        if !keepingSignals { settings.c_lflag &= ~tcflag_t(ISIG) }
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            (keys[Int(VMIN)], keys[Int(VTIME)]) = (1, 0)
            // Ctrl-Z takes effect at the next line, which restores the terminal before the process stops.
            keys[Int(VSUSP)] = 0
        }
        isChanged = true
        return tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0
    }
}
