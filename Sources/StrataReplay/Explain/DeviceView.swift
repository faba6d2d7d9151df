import StrataModel
import StrataStore

/// What a device knew of a store at an offset, as far as the log tells.
///
/// What a device fetched is in the log only where the store was told to keep it (`StoreOptions.recordsFetches`); what
/// it saved always is.
///
/// ```swift
/// let view = try DeviceView.of(Actor(user: "anna", device: "phone"), in: store)
/// for zone in view.zones { print(zone.zone.name, zone.given?.offset ?? 0, zone.changesBehind ?? 0) }
/// ```
public struct DeviceView: Sendable {
    /// A token that the device was given, and what it is worth.
    public struct Given: Sendable, Hashable {
        /// Of the audit that has it.
        public let audit: UInt64
        /// Of the audit, microseconds since 1970.
        public let time: Int64
        /// Up to where it goes.
        public let offset: UInt64
        /// Whether all up to there was given: no page of a first fetch was to come, and no rest of a commit.
        public let isWhole: Bool
        /// Whether it was told that there is more.
        public let moreComing: Bool
        /// Why it would not be served; nil if it would be.
        public let refusal: Refusal?
    }

    /// A zone of the user's private database, or another one of which the device fetched changes.
    public struct Zone: Sendable {
        public let database: DatabaseID
        public let zone: ZoneID
        public let isThere: Bool
        /// Nil if the log has no fetch of its changes by the device.
        public let given: Given?
        /// Changes of records in it that the device was not given; nil where nobody knows.
        public let changesBehind: UInt64?
        /// The last request with a client token by which the device changed it.
        public let lastClientToken: UInt64?
    }

    /// The feed of a database.
    public struct Database: Sendable {
        public let database: DatabaseID
        public let given: Given
        /// Zones that have changed since.
        public let zonesBehind: Int
    }

    /// Of the state.
    public let offset: UInt64
    public let actor: Actor
    /// The commit with which it wrote first; nil if it has written nothing.
    public let firstSeen: UInt64?
    /// Its last commit, not counting what it read and what it was refused.
    public internal(set) var lastCommit: UInt64?
    public let account: AccountStatus
    /// How far the log notes that it was told of changes, and the number on its badge.
    public let toldThrough: UInt64?
    public let badge: UInt64?
    /// How many of its fetches are in the log, and of anybody's.
    public let fetchCount: Int
    public let allFetchCount: Int
    public let databases: [Database]
    public let zones: [Zone]
    /// If one was asked for.
    public let record: RecordKnowledge?
    /// What cannot be known, and why.
    public let notes: [String]

    /// What a device knows of the newest state of a record.
    public struct RecordKnowledge: Sendable {
        public enum Verdict: String, Sendable, CaseIterable {
            /// The device made it itself.
            case madeIt
            /// A fetch gave it to the device.
            case given
            /// The account was not available, so that the device is refused.
            case accountUnavailable
            /// The token that the device has would be refused.
            case tokenRefused
            /// The device has fetched, but not since.
            case notFetchedSince
            /// It fetched of other zones or databases, and never of this one.
            case fetchedElsewhere
            /// The log has no fetch of the device.
            case noFetchNoted
            /// The record never was in this zone.
            case neverThere
            /// Its state was let go, or its zone is gone.
            case notKnown
        }

        public let id: RecordID
        public let database: DatabaseID
        public let verdict: Verdict
        /// The commit that made its state, or deleted it.
        public let version: Version?
        public let time: Int64?
        public let madeBy: Actor?
        public let isDeleted: Bool
        /// The audit by which it was given, or the last one that could have given it.
        public let audit: UInt64?
        public let refusal: Refusal?
        /// The device's last save of it, and the version that it named: what it had then.
        public let lastSave: Version?
        public let lastSaveBase: Version?
    }

    /// - Parameters:
    ///   - actor: the user and the device.
    ///   - store: as it was, or as it is.
    ///   - record: of which it is asked whether the device knows its state.
    /// - Throws: ``Refusal`` for a user or a device that the store does not know.
    public static func of(
        _ actor: Actor, in store: Store, record: (id: RecordID, database: DatabaseID)? = nil
    ) throws -> DeviceView {
        try DeviceViewMaker(actor, store).make(record)
    }
}
