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

extension Client {
    /// Passes the result of the work to a handler, never on the main thread.
    func answer<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        with handler: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            callbacks.async { handler(result) }
        }
    }

    /// The same as the other form, for handlers that take a value and an error.
    func answer<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value?,
        with handler: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) {
        answer(work) { (result: Result<Value?, any Error>) in
            switch result {
            case .success(let value): handler(value, nil)
            case .failure(let error): handler(nil, error)
            }
        }
    }
}

extension DatabaseCall {
    /// Passes what the work makes of this call to a handler, never on the main thread.
    func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
        with work: @escaping @Sendable (DatabaseCall) async throws -> Value
    ) {
        client.answer({ try await work(self) }, with: handler)
    }

    /// The same as the other form, for handlers that take a value and an error.
    func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void,
        with work: @escaping @Sendable (DatabaseCall) async throws -> Value?
    ) {
        client.answer({ try await work(self) }, with: handler)
    }
}

extension SendableHandlers where Self: CKContainer {
    /// The same as the asynchronous form. The handler is called on a queue of the container.
    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, Error?) -> Void) {
        client.answer {
            try await self.accountStatus()
        } with: { (status: CKAccountStatus?, error) in
            completionHandler(status ?? .couldNotDetermine, error)
        }
    }

    /// The same as the asynchronous form. The handler is called on a queue of the container.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void) {
        client.answer({ try await self.userRecordID() }, with: completionHandler)
    }
}
