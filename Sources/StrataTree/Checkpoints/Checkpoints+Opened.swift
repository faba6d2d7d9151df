import StrataModel
import StrataSystem

/// What must be done about the file that was found.
extension Checkpoints {
    /// Makes the medium have what was found when the file was opened, before pages are reused: a header that was not
    /// taken must never become valid again, and the one that was taken must not be gone, nor the file's name.
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

    /// A page of the file is damaged: whoever opens the store next is to make another one. This store goes on with what
    /// it has, so that those who do not need the page are served.
    func setAside() {
        state.withLock { state in
            guard !state.isDamaged else { return }
            state.isDamaged = true
            // The name is another file's if this one was replaced. If it fails, whoever opens it next finds it again.
            if !state.isReplaced { try? PageStore.setAside(in: directory, files: files) }
        }
    }
}
