import Foundation

/// Looks up users to be added to shares.
// @unchecked: like its superclass.
public final class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// The addresses to look up.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Called once for each address.
    public var perShareParticipantResultBlock:
        (
            (_ lookupInfo: CKUserIdentity.LookupInfo, _ shareParticipantResult: Result<CKShare.Participant, Error>) ->
                Void
        )?
    /// Called once, at the end. Errors of single items do not fail the operation.
    public var fetchShareParticipantsResultBlock: ((_ operationResult: Result<Void, Error>) -> Void)?

    private var oldItem: ((CKShare.Participant) -> Void)?

    private var completion: ((Error?) -> Void)?

    /// Called for each user who is found, unless `perShareParticipantResultBlock` is set.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock.")
    public var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { oldItem }
        set { oldItem = newValue }
    }

    /// Called once, at the end, unless `fetchShareParticipantsResultBlock` is set; with `partialFailure` if an item
    /// failed.
    @available(*, deprecated, message: "Use fetchShareParticipantsResultBlock.")
    public var fetchShareParticipantsCompletionBlock: ((Error?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// Creates an operation that does nothing until it has items.
    public override init() { super.init() }

    /// Creates an operation that looks up users.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func makeRun() -> (any OperationRun)? {
        let call = containerCall
        return FetchRun(
            settings: call.settings, ids: userIdentityLookupInfos ?? [], failureMessage: "Failed to find some users",
            fetch: { items, _ in try await call.shareParticipants(items ?? []) },
            before: perShareParticipantResultBlock == nil
                ? { [oldItem] _, result in if case .success(let found) = result { oldItem?(found) } } : nil,
            item: perShareParticipantResultBlock, result: fetchShareParticipantsResultBlock,
            completion: { [completion] _, error in completion?(error) })
    }
}
