/// The memory and the space that a store of trees may use.
package struct TreeStoreOptions: Sendable, Hashable {
    /// The memory for changes that no run has.
    package var memoryBytes = 256 << 20
    /// The bytes of changes in memory at which they are written as a run: one generation takes changes while two are
    /// written, and a fourth while that fails.
    package var generationBytes: Int {
        get { memoryBytes / 4 }
        set { memoryBytes = newValue * 4 }
    }
    /// The size of a piece that a merge writes, unless the store is large.
    package var pieceBytes = 64 << 20
    /// The maximum number of older states that are kept, from which past states begin.
    package var maximumKeptStates = 24
    /// The address space of a generation, which a single large commit may use up; only tests change it.
    package var reservedBytes = 16 << 30
    /// The size of a frame; only tests change it.
    package var frameBytes = RunFormat.frameBytes

    package init() {}
}
