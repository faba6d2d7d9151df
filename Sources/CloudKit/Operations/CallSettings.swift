import Foundation
import StrataModel
import StrataRules
import StrataSystem

/// How one call or operation runs: what is left when all configurations have been merged.
struct CallSettings: Sendable {
    var operation: OperationInfo
    var qualityOfService: QualityOfService
    var allowsCellularAccess: Bool
    var isLongLived: Bool
    var requestTimeout: TimeInterval
    var resourceTimeout: TimeInterval

    /// - Parameter quality: what is used if nobody set one.
    init(
        _ explicit: CKOperation.Configuration.Explicit, group: CKOperationGroup?, id: String,
        quality: QualityOfService
    ) {
        qualityOfService = explicit.qualityOfService ?? quality
        allowsCellularAccess = explicit.allowsCellularAccess ?? true
        isLongLived = explicit.isLongLived ?? false
        requestTimeout = explicit.timeoutIntervalForRequest ?? 60
        resourceTimeout =
            explicit.timeoutIntervalForResource
            ?? CKOperation.Configuration.Explicit.resourceTimeout(of: qualityOfService)
        operation = OperationInfo(
            id: id, qualityOfService: Self.logged(qualityOfService),
            groupID: Self.fitting(group?.operationGroupID ?? ""), groupName: Self.fitting(group?.name ?? ""))
    }

    /// Convenience methods run with low priority (B206).
    static let convenience = CallSettings(.init(), group: nil, id: "", quality: .utility)

    /// Seconds until the operation has failed; nil for no limit.
    var timeout: TimeInterval? {
        let timeout = min(requestTimeout, resourceTimeout)
        return timeout.isFinite ? max(0, timeout) : nil
    }

    private static func logged(_ quality: QualityOfService) -> EnvelopeHeader.QualityOfService {
        switch quality {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .default
        }
    }

    /// A text as the log can keep it.
    private static func fitting(_ text: String) -> String {
        guard text.utf8.count > EnvelopeHeader.maximumTextBytes else { return text }
        var end = text.startIndex
        while end < text.endIndex {
            let next = text.index(after: end)
            guard text.utf8.distance(from: text.startIndex, to: next) <= EnvelopeHeader.maximumTextBytes else { break }
            end = next
        }
        return String(text[..<end])
    }
}

/// What `configuredWith` puts on the databases and the container that it hands out, for as long as its body runs
/// (B207).
final class CallScope: Sendable {
    /// What a call or an operation takes along that is made while the body runs.
    struct Values: Sendable {
        var explicit = CKOperation.Configuration.Explicit()
        var group: CKOperationGroup?
    }

    private let given: Values
    private let isActive = Lock(true)

    init(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?, within outer: CallScope?) {
        let outer = outer?.values ?? Values()
        let explicit = (configuration?.explicit ?? .init()).merged(over: outer.explicit)
        given = Values(explicit: explicit, group: group ?? outer.group)
    }

    var values: Values { isActive.withLock { $0 } ? given : Values() }

    func end() { isActive.withLock { $0 = false } }
}
