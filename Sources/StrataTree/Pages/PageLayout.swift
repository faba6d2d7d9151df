/// The layout of a page (docs/format-views.md §2). All numbers are little-endian.
enum PageLayout {
    static let pageBytes = 4_096
    static let headerBytes = 32

    static let checksum = 0
    static let number = 4
    static let birth = 8
    static let kind = 16
    static let level = 17
    static let count = 18
    static let heapStart = 20
    static let prefixBytes = 22
    static let garbageBytes = 24

    /// The fields of a slot: head (4), place (2), suffix bytes (2).
    static let leafSlotBytes = 8
    /// The fields of a slot: head (4), place (2), suffix bytes (2), child (4).
    static let branchSlotBytes = 12
    /// The bytes before an entry's key: the length of the value, or `overflowMark`.
    static let entryHeaderBytes = 2
    static let overflowMark: UInt16 = 0xFFFF
    /// The fields of a reference: first page (4), bytes (4).
    static let overflowReferenceBytes = 8
    /// The maximum number of levels of a tree; never reached, because full branches have at least four children.
    static let maximumLevels = 64
    /// The number of bytes of the suffix in a slot's head.
    static let headBytes = 4

    /// Longer values are stored in overflow pages.
    static let maximumInlineBytes = 1_024
    /// Chosen so that two entries of the largest size fit in a leaf.
    static let maximumKeyBytes = 960
    static let maximumValueBytes = 1 << 30
    static let overflowBytesPerPage = pageBytes - headerBytes

    static func overflowPages(_ valueBytes: Int) -> Int {
        (valueBytes + overflowBytesPerPage - 1) / overflowBytesPerPage
    }
}

/// The number of a page: its place in the page file. 0 and 1 are the header slots, so 0 also means "none".
typealias PageNumber = UInt32

enum PageKind: UInt8 {
    case leaf = 1
    case branch, overflow, record
}
