/// The notation of an interpolated truth value.
public enum OSLogBoolFormat: Sendable {
    /// `true` or `false`.
    case truth
    /// `yes` or `no`.
    case answer

    func text(of boolean: Bool) -> String {
        switch self {
        case .truth: boolean ? "true" : "false"
        case .answer: boolean ? "yes" : "no"
        }
    }
}
