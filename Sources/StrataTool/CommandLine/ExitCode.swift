/// How a command ended, for scripts. The numbers are a promise.
public enum ExitCode: Int32, Sendable {
    case success = 0
    /// The answer is no: verification failed, things differ.
    case no = 1
    /// The command line cannot be understood.
    case usage = 2
    /// What was asked about cannot be read, or the answer cannot be written.
    case unreadable = 3
}
