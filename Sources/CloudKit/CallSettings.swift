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
    private let configuration: CKOperation.Configuration
    private let operationGroup: CKOperationGroup?
    private let isActive = Lock(true)

    init(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?, within outer: CallScope?) {
        let explicit = (configuration?.explicit ?? .init()).merged(over: outer?.explicit ?? .init())
        self.configuration = CKOperation.Configuration(explicit)
        operationGroup = group ?? outer?.group
    }

    var explicit: CKOperation.Configuration.Explicit {
        isActive.withLock { $0 } ? configuration.explicit : .init()
    }

    var group: CKOperationGroup? { isActive.withLock { $0 } ? operationGroup : nil }

    func end() { isActive.withLock { $0 = false } }
}
