/// The layout of header slots and records (docs/format-views.md §6 to §8).
enum ViewFormat {
    static let magic = "StrataVw"
    static let version = 1
    static let headerSlots = 2

    // Header slots.
    static let versionPlace = 8
    static let checksumPlace = 12
    static let sequencePlace = 16

    // Elements of a record's lists.
    static let treeBytes = 24
    static let runBytes = 8
    static let retiredListBytes = 24
    static let singleBytes = 4
    static let keptBytes = 48

    // Slots of `readers`.
    static let readerSlotBytes = 16
    static let readerSlots = 256

    /// The upper bound of epochs and sequences, so that they can always be incremented.
    static let epochLimit = UInt64.max >> 1
    static let maximumOpaqueBytes = 1 << 20
    static let maximumLevel = 24
    static let maximumKept = 24
}
