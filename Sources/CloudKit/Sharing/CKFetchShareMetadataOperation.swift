import Foundation

/// Fetches the descriptions of shares by their URLs.
// @unchecked: like its superclass.
public final class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    public var shareURLs: [URL]?
    /// True if the roots of the shares are fetched too; false by default.
    public var shouldFetchRootRecord = false
    /// The keys of the roots to fetch; nil for all.
    public var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Called once for each URL.
    public var perShareMetadataResultBlock:
        ((_ shareURL: URL, _ shareMetadataResult: Result<CKShare.Metadata, Error>) -> Void)?
    /// Called once, at the end. Errors of single items do not fail the operation.
    public var fetchShareMetadataResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var oldItem: ((URL, CKShare.Metadata?, Error?) -> Void)?

    private var completion: ((Error?) -> Void)?

    /// Called once for each URL, unless `perShareMetadataResultBlock` is set.
    @available(*, deprecated, message: "Use perShareMetadataResultBlock.")
    public var perShareMetadataBlock: ((URL, CKShare.Metadata?, Error?) -> Void)? {
        get { oldItem }
        set { oldItem = newValue }
    }

    /// Called once, at the end, unless `fetchShareMetadataResultBlock` is set; with `partialFailure` if an item failed.
    @available(*, deprecated, message: "Use fetchShareMetadataResultBlock.")
    public var fetchShareMetadataCompletionBlock: ((Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has items.
    public override init() { super.init() }

    /// Creates an operation that fetches descriptions of shares.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        let (includesRoot, desiredKeys) = (shouldFetchRootRecord, rootRecordDesiredKeys)
        return FetchRun(
            settings: call.settings, ids: shareURLs ?? [], failureMessage: "Failed to fetch some shares",
            fetch: { items, _ in
                try await call.shareMetadata(items ?? [], includesRoot: includesRoot, desiredKeys: desiredKeys)
            },
            before: perShareMetadataResultBlock == nil
                ? { [oldItem] url, result in oldItem?(url, try? result.get(), result.oldError) } : nil,
            item: perShareMetadataResultBlock, result: fetchShareMetadataResultBlock,
            completion: { [completion] _, error in completion?(error) })
    }
}
