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

    /// Renames the damaged page file, so that the next process that opens the store rebuilds it. This store continues
    /// with what it has, so that readers that do not need the damaged page are still served.
    func setAside() {
        state.withLock { state in
            guard !state.isDamaged else { return }
            state.isDamaged = true
            // If this file was replaced, the name belongs to another file. If renaming fails, the next opening finds
            // the damage again.
            if !state.isReplaced { try? PageStore.setAside(in: directory, files: files) }
        }
    }
}
