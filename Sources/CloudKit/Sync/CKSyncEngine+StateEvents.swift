extension CKSyncEngine.Event {
    /// There is a new state to keep.
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// The state for the next launch. Keep it together with the data that was fetched before.
        public let stateSerialization: CKSyncEngine.State.Serialization

        public var description: String {
            "<StateUpdate>"
        }
    }

    /// The user signed in or out, or another one did.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// The kinds of changes.
        public enum ChangeType: Sendable, Equatable {
            case signIn(currentUser: CKRecord.ID)
            case signOut(previousUser: CKRecord.ID)
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
        }

        /// The kind of change.
        public let changeType: ChangeType

        public var description: String {
            "<AccountChange: \(changeType)>"
        }
    }
}
