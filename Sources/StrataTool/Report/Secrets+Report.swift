import StrataModel

extension Secrets {
    /// Says of what did not open that it did not; the exit code behind what was printed.
    func reportClosed(by command: String, _ output: Output) throws -> ExitCode {
        guard let reason = firstReason else { return .success }
        try output.flush()
        Diagnostics.report(
            "\(closedCount) encrypted \(closedCount == 1 ? "value does" : "values do") not open", advice: "\(reason)",
            by: command)
        return .no
    }
}
