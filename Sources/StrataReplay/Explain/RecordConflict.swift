import StrataModel

/// What a save met that was made from another state than the stored one: three states of a record side by side, and
/// who changed what in between.
///
/// ```swift
/// if let conflict = why.items[0].conflict {
///     for field in conflict.fields where field.side == .conflict { print(field.key, field.client, field.server) }
/// }
/// ```
public struct RecordConflict: Sendable {
    /// Whether the state is known that the client began with.
    public enum Ancestor: String, Sendable, CaseIterable {
        case known
        /// The client knew of no record.
        case none
        /// Its history was let go.
        case letGo
        case erased
        /// The store never had that version of the record.
        case unknown

        var hasValues: Bool { self == .known || self == .none }
    }

    /// Who changed a field since the ancestor.
    public enum Side: String, Sendable, CaseIterable {
        case client, server
        /// Both, and to the same value.
        case same
        /// Both, to different values.
        case conflict
        /// It was sent, and is what it was.
        case unchanged
        /// The ancestor is not known.
        case unknown
    }

    public struct Field: Sendable, Hashable {
        /// `___parent` and `___share` are the record's links.
        public let key: String
        /// Nil for no value, and where the ancestor is not known.
        public let ancestor: FieldValue?
        /// Whether the client sent the key; what it did not send is to stay.
        public let isSent: Bool
        /// What the client wanted it to be; nil for no value.
        public let client: FieldValue?
        public let server: FieldValue?
        public let side: Side
    }

    /// An event of the record behind the ancestor.
    public struct Change: Sendable, Hashable {
        public enum Kind: String, Sendable, CaseIterable {
            case saved
            /// It got a new tag because a child was saved.
            case tagged
            case deleted, erased
        }

        public let version: Version
        /// Microseconds since 1970.
        public let time: Int64
        public let user: String
        public let device: String
        public let kind: Kind
        /// The keys that have another value since; nil where that is not known.
        public let keys: [String]?
    }

    public let ancestor: Ancestor
    /// What the client had seen.
    public let base: Version?
    public let server: Version
    /// Whether the log still has what the store had.
    public let isServerKnown: Bool
    /// In the order of keys.
    public let fields: [Field]
    /// In their order, up to the version that the store had.
    public let changes: [Change]
    /// Events that came before those, and are not told.
    public let earlierChangeCount: Int
    public let notes: [String]
}
