import Foundation

extension CKContainer {
    /// Whether somebody is signed in on this device.
    ///
    /// - Throws: Why the store cannot be opened.
    @discardableResult
    public func accountStatus() async throws -> CKAccountStatus {
        _ = try client.opened()
        return client.accountStatus
    }

    /// As the asynchronous form; the handler is called on a queue of the container.
    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, Error?) -> Void) {
        client.answer {
            try await self.accountStatus()
        } with: { result in
            switch result {
            case .success(let status): completionHandler(status, nil)
            case .failure(let error): completionHandler(.couldNotDetermine, error)
            }
        }
    }

    /// Name of the user's own record, which is also how others know the user.
    ///
    /// - Throws: `notAuthenticated` if nobody is signed in.
    @discardableResult
    public func userRecordID() async throws -> CKRecord.ID {
        try client.requireAccount()
        return CKRecord.ID(recordName: client.userRecordName)
    }

    /// As the asynchronous form; the handler is called on a queue of the container.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void) {
        client.answer({ try await self.userRecordID() }, with: completionHandler)
    }
}

extension Client {
    /// Calls a handler with what comes of a piece of work, never on the main thread.
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

    /// As the other, for handlers that get a value or an error.
    func answer<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        with handler: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) {
        answer(work) { (result: Result<Value, any Error>) in
            switch result {
            case .success(let value): handler(value, nil)
            case .failure(let error): handler(nil, error)
            }
        }
    }
}
