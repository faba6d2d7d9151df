extension CKContainer {
    /// Returns the status of the user's account on this device.
    ///
    /// - Throws: `CKError` if the store cannot be opened.
    @discardableResult
    public func accountStatus() async throws -> CKAccountStatus {
        _ = try client.opened()
        return client.accountStatus
    }

    /// Returns the ID of the user's own record, which also identifies the user to others.
    ///
    /// - Throws: `notAuthenticated` if no user is signed in.
    @discardableResult
    public func userRecordID() async throws -> CKRecord.ID {
        try client.requireAccount()
        let name = client.userRecordName
        guard !name.isEmpty else { throw CKError(.serviceUnavailable, message: "The store was closed.") }
        return CKRecord.ID(recordName: name)
    }
}

extension DatabaseCall {
    /// Passes what the work makes of this call to a handler, never on the main thread.
    func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
        with work: @escaping @Sendable (DatabaseCall) async throws -> Value
    ) {
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work(self)) } catch { result = .failure(error) }
            client.callbacks.async { handler(result) }
        }
    }

    /// The same as the other form, for handlers that take a value and an error.
    func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void,
        with work: @escaping @Sendable (DatabaseCall) async throws -> Value?
    ) {
        answer(
            { (result: Result<Value?, any Error>) in
                switch result {
                case .success(let value): handler(value, nil)
                case .failure(let error): handler(nil, error)
                }
            }, with: work)
    }
}

extension SendableHandlers where Self: CKContainer {
    /// The same as the asynchronous form. The handler is called on a queue of the container.
    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, Error?) -> Void) {
        privateCloudDatabase.call.answer(
            { (status: CKAccountStatus?, error) in
                completionHandler(status ?? .couldNotDetermine, error)
            }, with: { _ in try await self.accountStatus() })
    }

    /// The same as the asynchronous form. The handler is called on a queue of the container.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void) {
        privateCloudDatabase.call.answer(completionHandler) { _ in try await self.userRecordID() }
    }
}
