import StrataModel

extension Secrets {
    /// Reports the values that could not be decrypted, and returns the exit code.
    func reportClosed(by command: String, _ output: Output) throws -> ExitCode {
        guard let reason = firstReason else { return .success }
        try output.flush()
        return Diagnostics.refuse(
            "\(closedCount.counted("encrypted value")) cannot be decrypted", advice: "\(reason)", by: command)
    }
}
