import StrataModel

/// What the two header slots hold, and which epochs each of them keeps alive.
struct CheckpointSlots: Sendable {
    struct Slot: Sendable {
        var header: CheckpointHeader?
        var kept: [KeptRecord] = []
        var opaque: [UInt8] = []
        /// A header is there that was not taken: it must go before any page is written.
        var isRejected = false
        /// The header was found when the file was opened: it may be in the kernel's memory only, where a sync that
        /// failed has left it, and must be written again before any page is.
        var isUnconfirmed = false

        /// What must stay as long as the slot is not overwritten.
        var pinned: [UInt64] { header.map { [$0.epoch] + kept.map(\.epoch) } ?? [] }
    }

    var slots = [Slot(), Slot()]
    /// Pins of checkpoints whose header may or may not be on the medium, of slots whose readers could not be asked, and
    /// of nothing else.
    var doubtful: [UInt64] = []
    /// Pins on behalf of readers of other processes.
    var readers: [UInt64] = []
    /// Another file has the name now.
    var isReplaced = false
    /// A damaged page was found in the file.
    var isDamaged = false
    var lastSequence: UInt64 = 0
    var checkpointCount = 0
    var failureCount = 0

    /// The slot with the newest checkpoint; nil if there is none.
    var newestIndex: Int? {
        slots.indices.filter { slots[$0].header != nil }.max {
            (slots[$0].header?.sequence ?? 0) < (slots[$1].header?.sequence ?? 0)
        }
    }

    var newest: Slot? { newestIndex.map { slots[$0] } }

    /// Where the next header goes.
    var targetIndex: Int { newestIndex.map { 1 - $0 } ?? 0 }

    /// Everything on disk or in other processes that pins pages now.
    var pinned: [UInt64] { slots.flatMap(\.pinned) + doubtful + readers }
}
