import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The state on which the next batch is decided: the newest one, published or not.
///
/// Belongs to the thread that has the turn to decide.
final class SpeculativeState {
    let views: Views
    let view: RulesView
    var fold: Fold { view.fold }
    /// The expected offset of the next commit.
    private(set) var nextOffset: UInt64
    private(set) var lastTime: Int64
    /// The number of losses when the line began; once there are more, the line is invalid.
    let losses: Int

    init(on views: Views, after end: Position, time: Int64, losses: Int) throws {
        self.views = views
        view = RulesView(Fold(try views.trees.fork()))
        nextOffset = end.offset + 1
        lastTime = time
        self.losses = losses
        // Each commit is therefore judged on the one before it, and need not say on which.
        assert(fold.offset == end.offset, "a line begins at the end of the log")
    }

    func time(_ now: Int64) -> Int64 { max(now, lastTime) }

    /// Folds a commit that was decided on this line; returns its expected offset.
    func apply(_ decision: Decision, _ payload: [UInt8], time: Int64) throws -> UInt64 {
        let offset = nextOffset
        try payload.withUnsafeBytes { try fold.apply($0, offset: offset, time: time, found: decision.found) }
        view.adopt(decision)
        nextOffset += 1
        lastTime = time
        return offset
    }
}

/// Requests that were decided together and share one write and one sync.
struct Batch {
    struct Entry {
        var submission: Submission
        var outcome: Outcome

        /// True for an answer to a request that wrote nothing, which depends on the state, if it is not certain that
        /// the state was the newest one.
        var needsConfirmation: Bool {
            guard submission.audit == nil, submission.confirmedEnd == nil else { return false }
            return switch outcome {
            case .nothing, .repeats, .failed: true
            case .commit, .poisoned, .unavailable, .waiting: false
            }
        }
    }

    enum Outcome {
        /// The commit with that index in the batch.
        case commit(Int, Decision)
        case nothing(Decision)
        case repeats(UInt64)
        case failed(any Error)
        /// The store takes no writes; the request was not judged.
        case unavailable(any Error)
        /// Folding the decision failed: a defect, or a damaged frame. The other requests of the batch are decided
        /// again.
        case poisoned(any Error)
        /// To be decided again, since the line broke at an earlier request.
        case waiting
    }

    /// The time after which a batch takes no more requests.
    private static let maximumTurn = Duration.milliseconds(2)

    var entries: [Entry] = []
    var commits: [NewCommit] = []
    /// The expected offset of the first commit.
    var firstOffset: UInt64 = 0
    var byteCount = 0
    /// The weight of the requests that were taken for the batch.
    var requestBytes = 0
    /// True if the batch takes requests for as long as another one is being written.
    var isGrowing = false
    /// The time at which any other batch takes no more requests.
    let end = ContinuousClock.now + Self.maximumTurn
    var isLate: Bool { ContinuousClock.now >= end }
    /// True if no caller waits for the batch, so that it need not be durable.
    var isLazy: Bool { entries.allSatisfy { $0.submission.audit != nil } }
    /// True if the decisions are based on a state that will never exist.
    var isBroken = false
    /// The state with all commits, to be published when they are in the log; nil if there is no commit.
    var fork: Fork?

    /// Takes out the audits, and returns those that are to be put back.
    ///
    /// - Parameter includingPoisoned: true if the state is to blame for an audit that broke the batch.
    mutating func removeAudits(includingPoisoned: Bool) -> [Audit] {
        let audits = entries.compactMap { entry -> Audit? in
            if case .poisoned = entry.outcome, !includingPoisoned { nil } else { entry.submission.audit }
        }
        entries.removeAll { $0.submission.audit != nil }
        return audits
    }

    /// Returns the offset of a commit on which the batch was judged; a log may give the batch's own other offsets than
    /// expected.
    func offset(of judgedOn: UInt64?, _ positions: [Position]) -> UInt64? {
        guard let judgedOn, firstOffset > 0, judgedOn >= firstOffset else { return judgedOn }
        let index = Int(judgedOn - firstOffset)
        return index < positions.count ? positions[index].offset : judgedOn
    }
}
