import Foundation
import StrataModel
import StrataRules
import StrataSystem

/// The settings of one call or operation, after merging all configurations.
struct CallSettings: Sendable {
    var operation: OperationInfo
    var qualityOfService: QualityOfService
    var allowsCellularAccess: Bool
    var isLongLived: Bool
    var requestTimeout: TimeInterval
    var resourceTimeout: TimeInterval

    /// - Parameter quality: The quality of service if none was set.
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

    /// The number of seconds after which the operation fails; nil for no limit.
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

    /// Returns a text shortened to the maximum length in the log.
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

/// The settings that `configuredWith` gives its databases and container while its closure runs (B207).
final class CallScope: Sendable {
    /// The settings for calls and operations made while the closure runs.
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
