/// The layout of a page of a tree in memory.
enum PageLayout {
    static let pageBytes = 4_096
    static let headerBytes = 24

    static let birth = 0
    static let level = 8
    static let count = 10
    static let heapStart = 12
    static let prefixBytes = 14
    static let garbageBytes = 16

    /// The fields of a slot: head (4), place (2), suffix bytes (2).
    static let leafSlotBytes = 8
    /// The fields of a slot: head (4), place (2), suffix bytes (2), child (4).
    static let branchSlotBytes = 12
    /// The bytes before an entry's key: the length of the value, or one of the marks below.
    static let entryHeaderBytes = 2
    /// The entry has a ``ValuePlace``.
    static let outsideMark: UInt16 = 0xFFFF
    /// The entry says that its key is deleted in all older layers.
    static let deletedMark: UInt16 = 0xFFFE
    /// The maximum number of levels of a tree; never reached, because full branches have at least four children.
    static let maximumLevels = 64
    /// The number of bytes of the suffix in a slot's head.
    static let headBytes = 4

    /// Longer values are stored outside the leaf, so that copying a page does not copy them.
    static let maximumInlineBytes = 64
    /// Chosen so that two entries of the largest size fit in a leaf.
    static let maximumKeyBytes = 960
    static let maximumValueBytes = 1 << 30
}

/// The number of a page: its place in the memory of its generation. 0 means "none".
typealias PageNumber = UInt32
