import StrataModel

extension AccountStatus {
    /// - Throws: ``Refusal`` for a user who may only read the public database (docs/rules.md §2.1).
    public func requireAvailable() throws {
        switch self {
        case .available: break
        case .couldNotDetermine:
            throw Refusal(
                .notAuthenticated, "The status of the account could not be determined.", rule: .availableAccount)
        case .restricted: throw Refusal(.notAuthenticated, "The account is restricted.", rule: .availableAccount)
        case .noAccount:
            throw Refusal(.notAuthenticated, "There is no account on this device.", rule: .availableAccount)
        case .temporarilyUnavailable:
            throw Refusal(
                .accountTemporarilyUnavailable, "The account cannot be used at the moment.", rule: .availableAccount)
        }
    }
}

extension Actor {
    /// - Throws: ``Refusal`` if no user is signed in.
    package func requireSignedIn() throws {
        guard !user.isEmpty else {
            throw Refusal(.notAuthenticated, "Nobody is signed in on this device.", rule: .signedIn)
        }
    }
}
