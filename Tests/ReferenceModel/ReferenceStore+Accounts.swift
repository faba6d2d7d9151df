import StrataModel

extension ReferenceStore {
    /// Who may do nothing but read the public database (docs/rules.md §2.1).
    func checkAccount(of user: String) throws(Refusal) {
        if bends(.unavailableMayWrite) { return }
        switch state.accounts[user]?.status ?? .available {
        case .available: return
        case .temporarilyUnavailable:
            let code: Refusal.Code = bends(.pausedIsSignedOut) ? .notAuthenticated : .accountTemporarilyUnavailable
            throw Refusal(code, "the account is not there now", rule: .availableAccount)
        case .couldNotDetermine, .noAccount, .restricted:
            throw Refusal(.notAuthenticated, "the account is not there", rule: .availableAccount)
        }
    }

    /// docs/rules.md §13.
    mutating func setAccount(
        of user: String, _ change: (inout ReferenceAccount) -> Void
    ) throws(Refusal) -> RequestResult {
        guard !user.isEmpty else { throw Refusal(.invalidArguments, "nobody's account", rule: .administration) }
        let before = state.accounts[user] ?? ReferenceAccount()
        var account = before
        change(&account)
        if account != before || bends(.unchangedAccountIsWritten) { beginCommit() }
        state.accounts[user] = account == ReferenceAccount() ? nil : account
        return RequestResult()
    }

    mutating func keepNote(_ note: ConsoleNote) throws(Refusal) -> RequestResult {
        guard note.text.utf8.count <= 4_096 else {
            throw Refusal(.invalidArguments, "a long note", rule: .administration)
        }
        beginCommit()
        return RequestResult()
    }
}
