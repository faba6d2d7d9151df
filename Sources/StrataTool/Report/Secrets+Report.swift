import StrataModel

extension Secrets {
    /// Reports the values that could not be decrypted, and returns the exit code.
    func reportClosed(by command: String, _ output: Output) throws -> ExitCode {
        guard let reason = firstReason else { return .success }
        try output.flush()
        Diagnostics.report(
            "\(closedCount) encrypted \(closedCount == 1 ? "value does" : "values do") not open", advice: "\(reason)",
            by: command)
        return .no
    }
}
