import Glibc

/// Has a terminal give every key at once, unshown, as long as a line is typed, and puts it back whatever happens.
enum TerminalMode {
    private static let endingSignals = [SIGTERM, SIGHUP, SIGQUIT]

    // A signal handler takes no context; these are set before there is one, and only one line is typed at a time.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isRaw = false

    /// - Returns: false if it is no terminal.
    static func enterRaw() -> Bool {
        guard !isRaw, tcgetattr(STDIN_FILENO, &saved) == 0 else { return isRaw }
        var settings = saved
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { return false }
        isRaw = true
        for number in endingSignals {
            signal(number) { number in
                TerminalMode.leaveRaw()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        return true
    }

    static func leaveRaw() {
        guard isRaw else { return }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
        isRaw = false
    }

    /// Columns of the terminal.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
