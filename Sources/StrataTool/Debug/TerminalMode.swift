import Glibc

/// The settings of the terminal during a session with a line editor.
///
/// Keys that are typed while a command runs stay unchanged and unseen until the next line reads them. Without these
/// settings, the terminal would take a Ctrl-D or a backspace among them for itself.
enum TerminalMode {
    private static let endingSignals = [SIGTERM, SIGHUP, SIGQUIT]

    // A signal handler has no context. These are set before it is installed, and one session exists at a time.
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var isSaved = false

    static func enter() {
        if !isSaved {
            isSaved = tcgetattr(STDIN_FILENO, &saved) == 0
            guard isSaved else { return }
            for number in endingSignals {
                signal(number) { number in
                    TerminalMode.leaveAtOnce()
                    signal(number, SIG_DFL)
                    raise(number)
                }
            }
        }
        var settings = saved
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            (keys[Int(VMIN)], keys[Int(VTIME)]) = (1, 0)
            // Ctrl-Z takes effect at the next line, which restores the terminal before the process stops.
            keys[Int(VSUSP)] = 0
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Restores the settings from before the session.
    static func leave() {
        guard isSaved else { return }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
    }

    /// Restores the settings in a signal handler, without waiting for output. A process in the background leaves the
    /// terminal to the one in the foreground; otherwise it would be stopped here.
    private static func leaveAtOnce() {
        let foreground = tcgetpgrp(STDIN_FILENO)
        guard foreground == -1 || foreground == getpgrp() else { return }
        var settings = saved
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
