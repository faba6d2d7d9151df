extension CKSyncEngine {
    /// The options of a fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones whose records are fetched.
        public enum Scope: Sendable, Equatable {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])

            /// Returns true if the records of a zone are fetched.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let ids): !ids.contains(zoneID)
                case .zoneIDs(let ids): ids.contains(zoneID)
                }
            }
        }

        /// The zones whose records are fetched.
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup
        /// The zones that are fetched first, in this order.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Creates options, by default for all zones and with a group of their own.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        public var description: String { "<FetchChangesOptions: \(scope), prioritized: \(prioritizedZoneIDs)>" }
    }

    /// The options of a send.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// The changes that are sent.
        public enum Scope: Sendable, Equatable {
            case all
            case allExcluding([CKRecordZone.ID])
            case zoneIDs([CKRecordZone.ID])
            case recordIDs([CKRecord.ID])

            /// Returns true if the changes of a record are sent.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                if case .recordIDs(let ids) = self { return ids.contains(recordID) }
                return contains(recordID.zoneID)
            }

            /// Returns true if a change is sent.
            public func contains(_ pendingRecordZoneChange: PendingRecordZoneChange) -> Bool {
                contains(pendingRecordZoneChange.itemID)
            }

            /// Returns true if the changes of a zone itself are sent (B408).
            func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let ids): !ids.contains(zoneID)
                case .zoneIDs(let ids): ids.contains(zoneID)
                case .recordIDs: false
                }
            }
        }

        /// The changes that are sent; the delegate respects it when it makes batches (B408).
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup

        /// Creates options, by default for all changes and with a group of their own.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        public var description: String { "<SendChangesOptions: \(scope)>" }
    }

    /// The reason of a sync.
    public enum SyncReason: Sendable, Hashable, CustomStringConvertible {
        /// The engine scheduled it.
        case scheduled
        /// The program called `fetchChanges` or `sendChanges`.
        case manual

        public var description: String { self == .scheduled ? "scheduled" : "manual" }
    }

    /// The circumstances of a fetch.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// The reason of the fetch.
        public let reason: SyncReason
        /// The options of the fetch.
        public let options: FetchChangesOptions

        public var description: String { "<FetchChangesContext: \(reason), \(options)>" }
    }

    /// The circumstances of a send.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// The reason of the send.
        public let reason: SyncReason
        /// The options of the send.
        public let options: SendChangesOptions

        public var description: String { "<SendChangesContext: \(reason), \(options)>" }
    }
}

extension CKSyncEngine.FetchChangesOptions.Scope {
    /// Returns true if every zone of another scope is in this one.
    func covers(_ other: Self) -> Bool {
        switch (self, other) {
        case (.all, _): true
        case (.allExcluding(let ids), .zoneIDs(let others)): !others.contains { ids.contains($0) }
        case (.allExcluding(let ids), .allExcluding(let others)): ids.allSatisfy { others.contains($0) }
        case (.allExcluding(let ids), .all): ids.isEmpty
        case (.zoneIDs(let ids), .zoneIDs(let others)): others.allSatisfy { ids.contains($0) }
        case (.zoneIDs, _): false
        }
    }
}
