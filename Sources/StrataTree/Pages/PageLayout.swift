/// Where things stand in a page (docs/format-views.md §2). All numbers are little-endian.
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

    /// head (4), place (2), suffix bytes (2).
    static let leafSlotBytes = 8
    /// head (4), place (2), suffix bytes (2), child (4).
    static let branchSlotBytes = 12
    /// In front of an entry's key: the value's bytes, or `overflowMark`.
    static let entryHeaderBytes = 2
    static let overflowMark: UInt16 = 0xFFFF
    /// First page (4), bytes (4).
    static let overflowReferenceBytes = 8
    /// Levels of a tree, at most; never reached, because full branches have four children at least.
    static let maximumLevels = 64
    /// A slot's head holds as many bytes of the suffix.
    static let headBytes = 4

    /// Longer values stand in overflow pages.
    static let maximumInlineBytes = 1_024
    /// So that two entries of the largest size fit a leaf.
    static let maximumKeyBytes = 960
    static let maximumValueBytes = 1 << 30
    static let overflowBytesPerPage = pageBytes - headerBytes

    static func overflowPages(_ valueBytes: Int) -> Int {
        (valueBytes + overflowBytesPerPage - 1) / overflowBytesPerPage
    }
}

/// The number of a page: its place in the page file. 0 and 1 are the header slots, so 0 also stands for "none".
typealias PageNumber = UInt32

enum PageKind: UInt8 {
    case leaf = 1
    case branch, overflow, record
}
