import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The state that the next batch is decided on: the newest, published or not.
///
/// Belongs to whoever has the turn to decide.
final class Line {
    let views: Views
    let view: RulesView
    var fold: Fold { view.fold }
    /// Where the next commit goes, if everything goes well.
    private(set) var nextOffset: UInt64
    private(set) var lastTime: Int64
    /// What had been lost when it began; it is worth nothing once more has.
    let losses: Int
    var indexes: IndexProgressMark
    /// Whether rows of indexes were changed since the last batch.
    var changesIndexes = false

    init(on views: Views, after end: Position, time: Int64, losses: Int, indexes: IndexProgressMark) {
        self.views = views
        view = RulesView(Fold(views.pages.fork()))
        self.indexes = indexes
        nextOffset = end.offset + 1
        lastTime = time
        self.losses = losses
    }

    func time(_ now: Int64) -> Int64 { max(now, lastTime) }

    /// Folds a commit that was decided on this line; returns the offset that it will have.
    func apply(_ decision: Decision, _ payload: [UInt8], time: Int64) throws -> UInt64 {
        let offset = nextOffset
        try payload.withUnsafeBytes { try fold.apply($0, offset: offset, time: time) }
        view.adopt(decision)
        nextOffset += 1
        lastTime = time
        return offset
    }
}

/// Requests that were judged together: they share one write and one sync.
struct Batch {
    struct Entry {
        let submission: Submission
        var outcome: Outcome

        /// Whether a page that is wrong is all that speaks against it.
        var isDamaged: Bool {
            switch outcome {
            case .failed(let error as StrataError), .poisoned(let error as StrataError): Views.isDamage(error)
            default: false
            }
        }
    }

    enum Outcome {
        /// The commit with that index in the batch.
        case commit(Int, Decision)
        case nothing(Decision)
        case repeats(UInt64)
        case failed(any Error)
        /// Folding what was decided failed: a defect, or a damaged page. The others of the batch are judged again.
        case poisoned(any Error)
        /// To be judged again, since the line broke in front of it.
        case waiting
    }

    var entries: [Entry] = []
    var commits: [NewCommit] = []
    /// Where the commits are expected to be.
    var firstOffset: UInt64 = 0
    var eventCount = 0
    var byteCount = 0
    /// What the commits from `auditStart` on note.
    var audits: [Audit] = []
    var auditStart = 0
    /// Whether nobody waits for any of it, so that it need not be durable.
    var isLazy = false
    /// Whether what was decided stands on a state that will not be.
    var isBroken = false
    /// A page that was found wrong on the way.
    var damage: ViewsDamage?
    /// What of the indexes goes with the fork.
    var indexes: IndexProgressMark?
    /// Whether the fork has rows of indexes changed.
    var changesIndexes = false
    /// The state with all of them, to be published when they are in the log; nil if there is no commit.
    var fork: Fork?

    var submissions: [Submission] { entries.map(\.submission) }
}
