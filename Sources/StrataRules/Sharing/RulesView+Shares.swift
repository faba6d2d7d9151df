import StrataModel
import StrataViews

/// The shares of the state.
extension RulesView {
    /// True if the store has or had shares. Without any, nothing about shares needs to be looked up.
    var hasShares: Bool { !fold.fork.isUnused(ViewTree.shares) }

    /// The ordinal of the type of shares' records; nil if the store never had a share.
    func shareType() throws -> UInt64? {
        hasShares ? try ordinal(of: .recordType(ShareState.recordType)) : nil
    }

    /// The ordinal of the reserved key of the states of shares; 0 if the store never had a share.
    func shareField() throws -> UInt32 {
        hasShares ? UInt32(try ordinal(of: .field(ShareState.key)) ?? 0) : 0
    }

    /// The state in the record of a share.
    func shareState(of stored: StoredRecord) throws -> ShareState {
        let field = try shareField()
        let value = try stored.bytes.withUnsafeBytes { bytes in
            try RecordStateView(bytes, in: 0..<bytes.count).fields().value(of: field)
        }
        guard case .data(let bytes)? = value else {
            throw StrataError(.malformed, "The record of a share has no state.")
        }
        return try ShareState(decoding: bytes[...])
    }

    /// Returns true if a record has a link to a share that is stored.
    func isRoot(_ stored: StoredRecord, in zone: UInt64) throws -> Bool {
        let share = try stored.bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            return try view.links().share.map { try view.key($0).name }
        }
        return try share.flatMap { try header(RecordKey(zone: zone, name: $0))?.type } == shareType()
    }

    /// The shares of a zone that have not ended, in the order of their numbers. Reads the shared records of the zone.
    func currentShares(in zone: UInt64) throws -> [ShareSavedEvent] {
        guard hasShares else { return [] }
        let whole = try share(ofRecord: RecordKey(zone: zone, name: ShareState.zoneWideName))
        var numbers: Set<UInt64> = []
        try fold.fork.forEachSharedRecord(in: zone) { record in
            if !record.isGone { numbers.insert(record.share) }
            return true
        }
        return try numbers.sorted().compactMap { try fold.fork.share($0) } + [whole].compactMap(\.self)
    }

    /// Returns true if records of a zone belong to hierarchical shares now; each such share has at least its root.
    func hasHierarchies(in zone: UInt64) throws -> Bool {
        var isFound = false
        guard hasShares else { return false }
        try fold.fork.forEachSharedRecord(in: zone) { record in
            isFound = !record.isGone
            return !isFound
        }
        return isFound
    }

    /// Returns the share whose own record a record is.
    func share(ofRecord record: RecordKey) throws -> ShareSavedEvent? {
        guard let type = try shareType(), let stored = try self.record(record), stored.header.type == type else {
            return nil
        }
        return try fold.fork.share(shareState(of: stored).number)
    }

    /// Returns the share whose root a stored record is.
    func share(rootedAt record: RecordKey) throws -> ShareSavedEvent? {
        guard hasShares, let number = try fold.fork.hierarchicalShare(of: record),
            let share = try fold.fork.share(number), let root = share.root, isSameText(root, record.name)
        else { return nil }
        return share
    }

    /// The name of the user whose own record has a name; nil if no commit has named such a user.
    func userName(ofRecord name: String) throws -> String? { try userName(at: UserAddress(.recordName, name)) }

    /// The name of the user at an address; nil if no user has it.
    func userName(at address: UserAddress) throws -> String? {
        try fold.fork.user(at: address).flatMap { try fold.fork.user($0) }
    }
}

extension ShareParticipant.Address {
    var text: String {
        switch self {
        case .email(let text), .phone(let text): text
        }
    }
}
