/// The result of a command, for scripts. The numbers are stable.
public enum ExitCode: Int32, Sendable {
    case success = 0
    /// The answer is no: verification failed, or things differ.
    case no = 1
    /// The command line cannot be understood.
    case usage = 2
    /// The requested data cannot be read, or the answer cannot be written.
    case unreadable = 3
}
