import StrataSystem

/// Settles the file as it was found when it was opened.
extension Checkpoints {
    /// Makes the opened state durable before pages are reused: a rejected header must never become valid again, and
    /// neither the accepted header nor the file's name may be lost.
    func settleSlots(_ before: CheckpointSlots) throws {
        var hasChanged = false
        for (index, slot) in before.slots.enumerated() {
            if slot.isRejected {
                try file.write([UInt8](repeating: 0, count: PageLayout.pageBytes), toSlot: index)
                hasChanged = true
            } else if slot.isUnconfirmed, let header = slot.header {
                try file.write(header.encoded(), toSlot: index)
                hasChanged = true
            }
        }
        guard hasChanged else { return }
        try file.file.sync()
        try files.syncDirectory(directory)
        state.withLock { state in
            for index in state.slots.indices {
                (state.slots[index].isRejected, state.slots[index].isUnconfirmed) = (false, false)
            }
        }
    }
}
