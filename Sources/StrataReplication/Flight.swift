import StrataModel

/// An entry on its way to the sequencer.
struct Flight {
    enum Outcome {
        /// The entry counts, and its commits have these positions.
        case appended([Position])
        /// Another entry was valid first, so this one is void whatever number it gets.
        case lost
    }

    let entry: SequencedEntry
    let pieces: EntryPieces
    /// True if the sequencer may have the entry.
    var mayBeIn = false
    /// Known once the next valid entry was read.
    var outcome: Outcome?

    var id: Identifier { entry.id }
    /// The bytes of the entry that is valid or void.
    var bytes: [UInt8] { pieces.last.bytes }
}
