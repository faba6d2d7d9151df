import StrataLog
import StrataModel

/// Notes in the directory that all processes share how far the copy has read, so that the sequencer is not trimmed
/// past it (docs/replication.md §12).
extension ReplicatedLog {
    private static let pauseMicroseconds: Int64 = 10_000_000
    /// The time after which a copy that reads nothing says that it still exists.
    private static let silenceMicroseconds: Int64 = 3_600_000_000

    private var notes: CopyNotes? {
        guard options.notesProgress else { return nil }
        return options.filesDirectory.map { CopyNotes(in: $0, copy.platform.files) }
    }

    /// True if the copy has read more than others know, or has been silent for long.
    var isSharingDue: Bool {
        guard options.notesProgress, options.filesDirectory != nil else { return false }
        let (shared, number) = state.withLock { ($0.shared, $0.validNumber) }
        guard let shared else { return true }
        let passed = copy.platform.time.nowMicroseconds() - shared.time
        return passed >= (number > shared.number ? Self.pauseMicroseconds : Self.silenceMicroseconds)
    }

    /// Notes that the copy needs no entry up to `number` again. A failure only means that a trim waits longer, or that
    /// the copy cannot follow after one.
    func share(_ number: UInt64) {
        guard let notes else { return }
        let note = CopyNotes.Note(
            number: number, time: copy.platform.time.nowMicroseconds(), path: paths.store)
        // Otherwise it is tried again with the next mark of the copy.
        let isWritten = (try? notes.write(note, of: copyID, in: identity.storeID)) ?? false
        state.withLock { $0.shared = isWritten ? note : nil }
    }
}
