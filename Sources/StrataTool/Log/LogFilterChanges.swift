import StrataLog
import StrataModel

/// The commits that changed some zones, or a record in them, oldest first.
///
/// Where damage makes the change lists unreadable, it returns all later commits that can be read. The caller must check
/// them.
struct LogFilterChanges: CommitSupply {
    private let store: StoreAccess
    private let last: UInt64
    private var touches: TouchedCommits
    private var reads: CommitReads
    private var nextOffset: UInt64
    private var listDamage: StrataError?
    private var scan: CommitSource?

    init(_ store: StoreAccess, _ subject: TouchedCommits.Subject, from first: UInt64, through last: UInt64) {
        self.store = store
        self.last = last
        nextOffset = first
        touches = TouchedCommits(subject, of: store.reader, after: first - 1, through: last)
        reads = CommitReads(store.reader)
    }

    var damage: StrataError? { listDamage ?? scan?.store.damage ?? store.damage }

    mutating func next() throws -> Commit? { try next { _ in false } }

    /// Returns the next commit. Skips commits for which `isPassed` returns true, given the number of their changes.
    mutating func next(unless isPassed: (_ count: Int) -> Bool) throws -> Commit? {
        while scan == nil {
            do {
                guard let touch = try touches.next() else { return nil }
                let commit = isPassed(touch.count) ? nil : try reads.commit(at: touch.offset)
                nextOffset = touch.offset + 1
                if let commit { return commit }
            } catch let error as StrataError where error.isDamage {
                listDamage = error
                scan = try CommitSource(store, from: nextOffset)
            }
        }
        guard let commit = try scan?.next(), commit.offset <= last else { return nil }
        return commit
    }
}
