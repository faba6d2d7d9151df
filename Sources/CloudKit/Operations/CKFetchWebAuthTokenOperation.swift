import Foundation

/// Fails with `serviceUnavailable`: there is no web service to get a token for.
// @unchecked: like its superclass.
public final class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The token that identifies the web app.
    public var apiToken: String?
    /// Called once, at the end.
    public var fetchWebAuthTokenResultBlock: ((_ operationResult: Result<String, Error>) -> Void)?

    private var oldBlock: ((String?, Error?) -> Void)?

    /// Called once, at the end, unless `fetchWebAuthTokenResultBlock` is set.
    @available(*, deprecated, message: "Use fetchWebAuthTokenResultBlock.")
    public var fetchWebAuthTokenCompletionBlock: ((String?, Error?) -> Void)? {
        get { oldBlock }
        set { oldBlock = newValue }
    }

    /// Creates an operation without an API token.
    public override init() { super.init() }

    /// Creates an operation for a web app.
    public convenience init(apiToken: String) {
        self.init()
        self.apiToken = apiToken
    }

    override func makeRun() -> (any OperationRun)? {
        let client = call.client
        let (result, completion) = (fetchWebAuthTokenResultBlock, oldBlock)
        return SingleRun(
            settings: settings,
            make: {
                try client.requireAccount()
                throw CKError(.serviceUnavailable, message: "There is no web service: a store has no web tokens.")
            },
            report: { (outcome: Result<String, CKError>) in
                if let result { return result(outcome.mapError { $0 }) }
                completion?(try? outcome.get(), outcome.oldError)
            })
    }
}
