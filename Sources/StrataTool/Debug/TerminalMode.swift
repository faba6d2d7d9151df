import Glibc

/// Has a terminal give every key at once, unshown, as long as a session lasts, and puts it back whatever happens.
///
/// Whatever is typed while a command runs waits unchanged for the next line.
enum TerminalMode {
    private static let endingSignals = [SIGTERM, SIGHUP, SIGQUIT]

    // A signal handler takes no context; these are set before there is one, and there is one session at a time.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isChanged = false

    /// While a line is typed every key is the line's.
    ///
    /// - Returns: false if it is no terminal.
    static func enterTyping() -> Bool { change(keepingSignals: false) }

    /// While a command runs, Ctrl-C interrupts it.
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
            // Ctrl-Z waits for the next line, which puts the terminal back before it stops.
            keys[Int(VSUSP)] = 0
        }
        isChanged = true
        return tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0
    }

    /// Columns of the terminal.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
