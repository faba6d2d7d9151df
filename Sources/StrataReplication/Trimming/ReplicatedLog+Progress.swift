import StrataLog
import StrataModel

/// Notes in the directory that all processes share how far the copy has read, so that the sequencer is not trimmed past
/// it (docs/replication-internals.md §12).
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

    /// Notes that the copy needs no entry again up to that of the mark, and the offset up to which it has carried out
    /// erasures. A failure only means that a trim waits longer, or that the copy cannot follow after one.
    func share(_ mark: CopyMark) {
        guard let notes else { return }
        // IMPORTANT: Read this after the mark, whose commits may have begun an erasure.
        let erased = Result { try copy.unfinishedErasures() ?? mark.position.offset }
        let note = CopyNotes.Note(
            number: mark.number, time: copy.platform.time.nowMicroseconds(), path: paths.store,
            erased: (try? erased.get()) ?? 0)
        // Otherwise it is tried again with the next mark of the copy.
        let isWritten = (try? notes.write(note, of: copyID, in: identity.storeID)) ?? false
        state.withLock { $0.shared = isWritten ? note : nil }
    }

    /// Notes that erasures are complete, so that others need not wait for this copy.
    package func noteErasures() { try? note(sharesNow: true) }
}
