import StrataModel
import StrataRules

/// The reason why a pipeline writes nothing.
enum WriteRefusal {
    /// Until the store is opened again.
    case forGood(StrataError)
    /// Until the log has found out about an append whose outcome is unknown.
    case unsettled(StrataError)

    var isUnsettled: Bool { if case .unsettled = self { true } else { false } }

    /// The refusal of requests that are not judged meanwhile.
    var ofRequests: Refusal {
        switch self {
        case .forGood(let error) where error.code == .newerFormat:
            Refusal(.serviceUnavailable, "Nothing was written: \(error)")
        case .forGood(let error):
            Refusal(.serviceUnavailable, "The store takes no writes until it is opened again: \(error)")
        case .unsettled(let error):
            Refusal(
                .serviceUnavailable, "The store takes no writes until the outcome of the last one is known: \(error)",
                retryAfterSeconds: Refusal.serverRetrySeconds)
        }
    }
}
