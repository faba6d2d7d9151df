import Foundation

/// Joins shares.
// @unchecked: like its superclass.
public final class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The descriptions of the shares.
    public var shareMetadatas: [CKShare.Metadata]?

    /// Called once for each share.
    public var perShareResultBlock: ((_ metadata: CKShare.Metadata, _ metadataResult: Result<CKShare, Error>) -> Void)?
    /// Called once, at the end. Errors of single items do not fail the operation.
    public var acceptSharesResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var oldItem: ((CKShare.Metadata, CKShare?, Error?) -> Void)?

    private var completion: ((Error?) -> Void)?

    /// Called once for each share, unless `perShareResultBlock` is set.
    @available(*, deprecated, message: "Use perShareResultBlock.")
    public var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, Error?) -> Void)? {
        get { oldItem }
        set { oldItem = newValue }
    }

    /// Called once, at the end, unless `acceptSharesResultBlock` is set; with `partialFailure` if an item failed.
    @available(*, deprecated, message: "Use acceptSharesResultBlock.")
    public var acceptSharesCompletionBlock: ((Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has items.
    public override init() { super.init() }

    /// Creates an operation that joins shares.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        return FetchRun(
            settings: call.settings, ids: shareMetadatas ?? [], failureMessage: "Failed to accept some shares",
            fetch: { items, _ in try await call.accept(items ?? []) },
            before: perShareResultBlock == nil
                ? { [oldItem] metadata, result in oldItem?(metadata, try? result.get(), result.oldError) } : nil,
            item: perShareResultBlock, result: acceptSharesResultBlock,
            completion: { [completion] _, error in completion?(error) },
            errorKey: { $0.share.url.map { AnyHashable($0) } ?? AnyHashable($0) })
    }
}
