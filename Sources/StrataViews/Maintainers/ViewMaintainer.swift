import StrataModel
import StrataTree

/// An entry of a tree, valid only during the call that passes it.
struct ViewEntry {
    let key: UnsafeRawBufferPointer
    let row: UnsafeRawBufferPointer
}

/// A tree of the views: its keys, the effects of events on it, and the ways in which its entries are described, traced
/// to their commits, stated in a base and digested.
///
/// A new tree needs a conforming type in a file of its own, an entry in ``ViewTree/maintainers``, and a higher
/// ``Views/form``: otherwise it stays empty in stores that have a state on disk.
protocol ViewMaintainer: SendableMetatype {
    static var tree: TreeID { get }
    /// The name of the tree in docs/format-keys.md §3.
    static var name: String { get }
    /// The kinds of events that the maintainer applies; it may change other trees too. Events of records are gathered
    /// and folded by ``RecordFold``.
    static var kinds: [EventKind] { get }
    /// True if every fold brings the tree to its offset.
    static var isFolded: Bool { get }
    /// True if the rows of the tree contribute to the digests of the state.
    static var hasDigests: Bool { get }
    /// True if a base states the rows of the tree. Rows of other trees are derived from these.
    static var isStated: Bool { get }

    /// Applies the body of an event of one of ``kinds``.
    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws

    /// Appends the events that state a row to a payload of a base.
    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws

    /// Describes the entry of a key in words: `record milk of zone Notes`.
    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String

    /// Returns the offset of the commit that wrote an entry; nil if the trees do not record it.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64?

    /// Returns the name that an entry is about; nil if it is not about a name.
    static func name(at entry: ViewEntry) throws -> UsedNames.Key?

    /// Adds the contribution of a row to the digests of the state.
    static func addDigests(of row: UnsafeRawBufferPointer, to sum: inout Digests) throws
}

extension ViewMaintainer {
    static var kinds: [EventKind] { [] }
    static var isFolded: Bool { true }
    static var hasDigests: Bool { false }
    static var isStated: Bool { false }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        preconditionFailure("a maintainer may apply only the kinds of events that it lists")
    }

    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        preconditionFailure("a base may contain only trees that are marked for it")
    }

    /// Returns the offset of the version with which most rows begin.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        try RowLayout.version(of: entry.row).offset
    }

    static func name(at entry: ViewEntry) throws -> UsedNames.Key? { nil }

    static func addDigests(of row: UnsafeRawBufferPointer, to sum: inout Digests) throws {}
}
