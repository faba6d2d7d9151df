import StrataModel

/// All that a store has, in dictionaries. Two stores with equal states answer alike.
package struct ReferenceState: Sendable, Equatable {
    package var databases: [DatabaseID: ReferenceDatabase] = [:]
    /// Of the whole container: by record type, then by key.
    package var schema: [ReferenceName: [ReferenceName: ReferenceBinding]] = [:]

    /// By the users' names; of others there is nothing to say.
    package var accounts: [String: ReferenceAccount] = [:]
    /// Of each record type that a schema granted something of: by role.
    package var grants: [ReferenceName: [ReferenceName: SchemaGrant.Permissions]] = [:]
    /// In which zones of others users are members of a share, or were.
    package var memberships: Set<ReferenceMembership> = []

    package init() {}
}

/// What the service says of a user.
package struct ReferenceAccount: Sendable, Equatable {
    package var status = AccountStatus.available
    /// Bytes; 0 is no limit.
    package var quota: UInt64 = 0
    package var person = Person()

    package init() {}
}

/// What values a key takes: those of one kind, or encrypted ones, of which nobody sees the kind.
package struct ReferenceBinding: Sendable, Equatable {
    package var kind: FieldKind
    package var isEncrypted: Bool { kind.isSealed }

    package init(_ kind: FieldKind) { self.kind = kind }
}

/// One database; that of everybody has no owner.
package struct ReferenceDatabase: Sendable, Equatable {
    /// Those that live and those that ended.
    package var zones: [ReferenceName: ReferenceZone] = [:]
    /// What became of zones themselves, in order.
    package var zoneChanges: [ReferenceZoneChange] = []

    /// Of each user, by id.
    package var subscriptions: [String: [ReferenceName: ReferenceSubscription]] = [:]

    package init() {}

    /// What counts for its user's quota.
    package var usedBytes: Int {
        zones.values.filter(\.isAlive).flatMap(\.records.values).reduce(0) { $0 + $1.usedBytes }
    }

    /// Zones by the last change in them or of them, oldest first: what the feed of the database lists.
    package var zonesInOrderOfChange: [ReferenceName] {
        zones.values.sorted { $0.lastChange < $1.lastChange }.map(\.name)
    }
}

/// That a zone was made, or ended with a reason.
package struct ReferenceZoneChange: Sendable, Equatable {
    package var zone: ReferenceName
    package var ending: ZoneDeletedEvent.Reason?
    package var version: Version
}

/// One zone, in its present or after its last life.
package struct ReferenceZone: Sendable, Equatable {
    package var name: ReferenceName
    /// Number among the zones of its database, in the order of their first lives.
    package var ordinal: Int
    /// Why it is no more; nil if it lives.
    package var ending: ZoneDeletedEvent.Reason?
    /// Of the last event that saved or ended it.
    package var version: Version
    /// Of the event that began this life.
    package var incarnation: Version
    package var capabilities: ZoneCapabilities
    package var encryptionScope: EncryptionScope
    package var records: [ReferenceName: ReferenceRecord] = [:]
    /// What became of records in this life, in order; within a cascade the order is the model's own.
    package var changes: [ReferenceChange] = []
    /// Last token of each device.
    package var tokens: [Actor: ReferenceToken] = [:]

    package var isAlive: Bool { ending == nil }
    var lastChange: Version { max(version, changes.last?.version ?? version) }
}

/// A subscription as its user sees it, and the version that saved it.
package struct ReferenceSubscription: Sendable, Equatable {
    package var content: NamedSubscription
    package var version: Version

    /// Whether both watch the same, whatever they are called and show.
    func watches(_ other: NamedSubscription) -> Bool {
        var (mine, theirs) = (content, other)
        (mine.id, theirs.id) = ("", "")
        (mine.notification, theirs.notification) = (nil, nil)
        return mine == theirs
    }
}

/// A place in a zone's feed.
package struct ReferenceChange: Sendable, Equatable {
    package enum Kind: Sendable { case saved, deleted }

    package var kind: Kind
    package var record: ReferenceName
    package var version: Version
}

/// A client token, with what answers its repeat.
package struct ReferenceToken: Sendable, Equatable {
    package var token: [UInt8]
    package var commit: UInt64
    var items: ReferenceItems
    var result: RequestResult
}

/// Which records a request saves and deletes, in its order.
struct ReferenceItems: Sendable, Equatable {
    var saves: [ReferencePlace]
    var deletes: [ReferencePlace]
}

/// Where a record is, within a database. The owner is empty if it is the database's.
struct ReferencePlace: Sendable, Hashable {
    var owner: ReferenceName
    var zone: ReferenceName
    var name: ReferenceName
}

/// One record. Targets of references in values have the zone number 0: a reference never leaves its zone.
package struct ReferenceRecord: Sendable, Equatable {
    package var type: ReferenceName
    package var fields: [ReferenceName: FieldValue] = [:]
    package var parent: ReferenceName?
    /// True if the record holds its parent: the user who set it could write the parent.
    package var holdsParent = true
    /// The share of which this record is the root.
    package var share: ReferenceName?
    /// The state of the share that this record is.
    package var sharing: ShareState?
    package var created: Int64
    package var createdBy: String
    package var modified: Int64
    package var modifiedBy: String
    package var modifiedWith: String
    package var version: Version

    /// What it counts for its user's quota.
    package var usedBytes: Int { fields.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.usedBytes } }

    /// The records with which this one goes.
    package var owners: Set<ReferenceName> { Set(owningReferences.map { ReferenceName($0.target.name) }) }

    /// The owners that this record holds.
    package var heldOwners: Set<ReferenceName> {
        Set(owningReferences.filter { !$0.isLoose }.map { ReferenceName($0.target.name) })
    }

    /// The targets of loose references.
    package var looseOwners: Set<ReferenceName> {
        Set(owningReferences.filter(\.isLoose).map { ReferenceName($0.target.name) })
    }

    private var owningReferences: [FieldValue.Reference] {
        fields.values.flatMap(\.parts).compactMap { value in
            if case .reference(let reference) = value, reference.action == .deleteSelf { reference } else { nil }
        }
    }

    package var hasEncryptedValue: Bool { fields.values.contains { $0.kind.isSealed } }
}

extension FieldValue {
    /// The elements of a list, or the value alone.
    var parts: [FieldValue] {
        if case .list(let list) = self { list.elements } else { [self] }
    }

    /// Bytes that count (docs/rules.md §6).
    /// For a quota, files count too.
    package var usedBytes: Int {
        switch self {
        case .asset(let asset): Int(asset.size)
        case .list(let list): list.elements.reduce(0) { $0 + $1.usedBytes }
        default: countedBytes
        }
    }

    var countedBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .int64, .double, .date: 8
        case .data(let bytes): bytes.count
        case .location: 16
        case .reference(let reference): reference.target.name.utf8.count
        case .asset: 0
        case .list(let list): list.elements.reduce(0) { $0 + $1.countedBytes }
        case .sealed(let sealed): sealed.ciphertext.count
        }
    }
}
