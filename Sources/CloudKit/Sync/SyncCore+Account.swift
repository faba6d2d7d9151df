extension SyncCore {
    /// Compares the user with the last known one, and posts the difference (B451 to B453). Called in turn.
    func compareAccount() async throws(CKError) {
        endStart()
        let current: String?
        switch client.accountStatus {
        case .available: current = client.userRecordName
        case .noAccount, .restricted: current = nil
        case .couldNotDetermine, .temporarilyUnavailable: return
        }
        let isFirst = takeFirstComparison()
        let previous = state.content.withLock { $0.user }
        guard current != previous else { return }
        state.change { content in
            // What was added since the engine was created stays (B451).
            if !isFirst || hasState { content.clear() }
            content.user = current
            return true
        }
        let (currentUser, previousUser) = (current.map { userID($0) }, previous.map { userID($0) })
        let change: CKSyncEngine.Event.AccountChange.ChangeType
        switch (previousUser, currentUser) {
        case (let previous?, let current?): change = .switchAccounts(previousUser: previous, currentUser: current)
        case (let previous?, nil): change = .signOut(previousUser: previous)
        case (nil, let current?): change = .signIn(currentUser: current)
        case (nil, nil): return
        }
        try await post(.accountChange(.init(changeType: change)))
        // The first comparison is part of the start, which is a cause itself.
        if current != nil, !isFirst { scheduler.cause(fetches: true, sends: true) }
    }

    private func userID(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name) }
}
