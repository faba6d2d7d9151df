import StrataModel
import StrataStore

/// The knowledge that a device had of a store at an offset, as far as the log shows it.
///
/// The log always has what a device saved, but has what it fetched only if the store keeps fetches
/// (`StoreOptions.recordsFetches`).
///
/// ```swift
/// let view = try DeviceView.of(Actor(user: "anna", device: "phone"), in: store)
/// for zone in view.zones { print(zone.zone.name, zone.given?.offset ?? 0, zone.changesBehind ?? 0) }
/// ```
package struct DeviceView: Sendable {
    /// A token that the device was given, and whether it would be served.
    package struct Given: Sendable, Hashable {
        /// The offset of the audit that has the token.
        package let audit: UInt64
        /// The time of the audit, in microseconds since 1970.
        package let time: Int64
        /// The offset that the token reaches.
        package let offset: UInt64
        /// True if everything up to there was given: no page of a first fetch and no rest of a commit was left.
        package let isWhole: Bool
        /// True if the fetch reported that more was to come.
        package let moreComing: Bool
        /// The reason the token would be refused; nil if it would be served.
        package let refusal: Refusal?
    }

    /// A zone of the user's private database, a zone that others share with the user, or another zone whose changes the
    /// device fetched.
    package struct Zone: Sendable {
        package let database: DatabaseID
        package let zone: ZoneID
        /// The name of the user who shares the zone; nil for zones of the private database.
        package let sharedBy: String?
        package let isThere: Bool
        /// Nil if the log has no fetch of its changes by the device.
        package let given: Given?
        /// The number of record changes in the zone that the device was not given; nil if unknown.
        package let changesBehind: UInt64?
        /// The last request with a client token by which the device changed the zone.
        package let lastClientToken: UInt64?
    }

    /// The feed of a database.
    package struct Database: Sendable {
        package let database: DatabaseID
        package let given: Given
        /// The number of zones that have changed since.
        package let zonesBehind: Int
    }

    /// The offset of the state.
    package let offset: UInt64
    package let actor: Actor
    /// The commit with which the device first wrote; nil if it has written nothing.
    package let firstSeen: UInt64?
    /// The device's last commit, not counting fetches and refusals.
    package internal(set) var lastCommit: UInt64?
    package let account: AccountStatus
    /// The offset up to which the device was notified of changes, as noted in the log, and the number on its badge.
    package let toldThrough: UInt64?
    package let badge: UInt64?
    /// The number of fetches in the log, by this device and by all devices.
    package let fetchCount: Int
    package let allFetchCount: Int
    package let databases: [Database]
    package let zones: [Zone]
    /// Nil unless a record was asked for.
    package let record: RecordKnowledge?
    /// Notes on what is unknown, and why.
    package let notes: [String]

    /// The knowledge that a device has of the newest state of a record.
    package struct RecordKnowledge: Sendable {
        package enum Verdict: String, Sendable, CaseIterable {
            /// The device made the state itself.
            case madeIt
            /// A fetch gave the state to the device.
            case given
            /// The account is not available, so the device is refused.
            case accountUnavailable
            /// The token that the device has would be refused.
            case tokenRefused
            /// The device has fetched, but not since.
            case notFetchedSince
            /// The device fetched from other zones or databases, but never from this one.
            case fetchedElsewhere
            /// The log has no fetch of the device.
            case noFetchNoted
            /// The record never existed in this zone.
            case neverThere
            /// The history of the record was compacted, or its zone no longer exists.
            case notKnown
        }

        package let id: RecordID
        package let database: DatabaseID
        package let verdict: Verdict
        /// The commit that made the state, or deleted the record.
        package let version: Version?
        package let time: Int64?
        package let madeBy: Actor?
        package let isDeleted: Bool
        /// The audit of the fetch that gave the state, or of the last one that asked for the record or its zone.
        package let audit: UInt64?
        package let refusal: Refusal?
        /// The device's last save of the record, and the version that it named as its base.
        package let lastSave: Version?
        package let lastSaveBase: Version?
    }

    /// - Parameters:
    ///   - actor: the user and the device.
    ///   - store: the store as it was, or as it is now.
    ///   - record: the record of which the device may know the state.
    /// - Throws: ``Refusal`` for a user or a device that the store does not know.
    package static func of(
        _ actor: Actor, in store: Store, record: (id: RecordID, database: DatabaseID)? = nil
    ) throws -> DeviceView {
        try DeviceViewBuilder(actor, store).make(record)
    }
}
