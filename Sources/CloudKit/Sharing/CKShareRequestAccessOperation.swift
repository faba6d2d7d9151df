import Foundation

/// Asks for access to shares. A success does not disclose whether there is such a share (B399).
// @unchecked: like its superclass.
public final class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    public var shareURLs: [URL]?

    /// Called once for each URL.
    public var perShareAccessRequestResultBlock: ((_ shareURL: URL, _ result: Result<Void, Error>) -> Void)?
    /// Called once, at the end. Errors of single items do not fail the operation.
    public var shareAccessRequestResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    /// Creates an operation that does nothing until it has items.
    public override init() { super.init() }

    /// Creates an operation that asks for access to shares.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        return FetchRun(
            settings: call.settings, ids: shareURLs ?? [], failureMessage: "Failed to ask for access to some shares",
            fetch: { items, _ in try await call.requestAccess(items ?? []) },
            item: perShareAccessRequestResultBlock, result: shareAccessRequestResultBlock, completion: { _, _ in })
    }
}
