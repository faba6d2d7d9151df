import StrataModel

/// The conflict of a save that was made from another state than the stored one, and was refused, or accepted all the
/// same: three states of a record side by side, and the changes between them.
///
/// ```swift
/// if let conflict = why.items[0].conflict {
///     for field in conflict.fields where field.side == .conflict { print(field.key, field.client, field.server) }
/// }
/// ```
package struct RecordConflict: Sendable {
    /// Indicates whether the state that the client began with is known.
    package enum Ancestor: String, Sendable, CaseIterable {
        case known
        /// The client knew of no record.
        case none
        /// Its history was compacted.
        case letGo
        case erased
        /// The store never had that version of the record.
        case unknown

        var hasValues: Bool { self == .known || self == .none }
    }

    /// The side that changed a field since the ancestor.
    package enum Side: String, Sendable, CaseIterable {
        case client, server
        /// Both sides, to the same value.
        case same
        /// Both sides, to different values.
        case conflict
        /// Neither side: the client sent the value that the ancestor had.
        case unchanged
        /// The ancestor is unknown.
        case unknown
    }

    package struct Field: Sendable, Hashable {
        /// `___parent` and `___share` are the record's links.
        package let key: String
        /// Nil for no value, or if the ancestor is unknown.
        package let ancestor: FieldValue?
        /// True if the client sent the key; keys that it did not send keep their values.
        package let isSent: Bool
        /// The value that the client wanted; nil for no value.
        package let client: FieldValue?
        package let server: FieldValue?
        package let side: Side
    }

    /// An event of the record after the ancestor.
    package struct Change: Sendable, Hashable {
        package enum Kind: String, Sendable, CaseIterable {
            case saved
            /// It got a new tag because a child was saved.
            case tagged
            case deleted, erased
        }

        package let version: Version
        /// Microseconds since 1970.
        package let time: Int64
        package let user: String
        package let device: String
        package let kind: Kind
        /// The keys whose values it changed; nil if unknown.
        package let keys: [String]?
    }

    package let ancestor: Ancestor
    /// The version that the client had seen.
    package let base: Version?
    package let server: Version
    /// True if the log still has the state that the store had.
    package let isServerKnown: Bool
    /// In the order of keys.
    package let fields: [Field]
    /// The changes in order, up to the version that the store had.
    package let changes: [Change]
    /// The number of earlier events, which are not listed.
    package let earlierChangeCount: Int
    package let notes: [String]
}
