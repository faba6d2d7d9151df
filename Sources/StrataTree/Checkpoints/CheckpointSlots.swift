/// The content of the two header slots, and the epochs that each of them keeps alive.
struct CheckpointSlots: Sendable {
    struct Slot: Sendable {
        var header: CheckpointHeader?
        var kept: [KeptRecord] = []
        var opaque: [UInt8] = []
        /// True if the slot contains a header that was not accepted. It must be erased before any page is written.
        var isRejected = false
        /// True if the header was found when the file was opened. After a failed sync it may exist only in the kernel's
        /// memory, so it must be rewritten before any page is written.
        var isUnconfirmed = false

        /// The epochs that must be kept until the slot is overwritten.
        var pinned: [UInt64] { header.map { [$0.epoch] + kept.map(\.epoch) } ?? [] }
    }

    var slots = [Slot(), Slot()]
    /// Pins of checkpoints whose header may or may not be durable, and of slots whose readers could not be determined.
    var doubtful: [UInt64] = []
    /// Pins on behalf of readers in other processes.
    var readers: [UInt64] = []
    /// True if another file has replaced this one under its name.
    var isReplaced = false
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

    /// The slot that the next header is written to.
    var targetIndex: Int { newestIndex.map { 1 - $0 } ?? 0 }

    /// All epochs that pin pages now, on disk or in other processes.
    var pinned: [UInt64] { slots.flatMap(\.pinned) + doubtful + readers }
}
