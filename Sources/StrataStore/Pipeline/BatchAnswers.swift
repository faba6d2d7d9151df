import StrataLog
import StrataModel
import StrataRules
import StrataTree

/// The answers to the requests of a batch that was written, and what is to be decided again.
struct BatchAnswers {
    typealias List = [(Submission, Result<Answer, any Error>)]

    /// The state on which a batch was judged, as far as it decides requests that wrote nothing.
    enum Standing {
        /// At the end of the log.
        case confirmed
        /// Before the end of the log: the requests must be judged again, on a state that has everything that was
        /// acknowledged before they came if the end was confirmed.
        case outdated(confirmedEnd: UInt64?)
        /// The end of the log is not known.
        case unconfirmed(any Error)
    }

    private let log: any EventLog
    private let reader: SnapshotBuilder
    private let snapshot: Snapshot
    private(set) var list: List = []
    private(set) var again: [Submission] = []
    /// The audits that did not reach the log.
    private(set) var audits: [Audit] = []
    /// The last commit that an answer names.
    private(set) var lastOffset: UInt64 = 0
    /// True if an earlier commit was lost on which later decisions may be based.
    private var mustRetryRest = false

    init(_ log: any EventLog, _ reader: SnapshotBuilder, showing snapshot: Snapshot) {
        self.log = log
        self.reader = reader
        self.snapshot = snapshot
    }

    /// Adds the entries of the batch in their order.
    mutating func add(
        _ entry: Batch.Entry, _ positions: [Position], _ failure: AppendFailure?, _ standing: Standing
    ) {
        let submission = entry.submission
        switch entry.outcome {
        case .commit(let index, let decision) where index < positions.count:
            if submission.audit != nil { return }
            let offset = positions[index].offset
            lastOffset = offset
            answer(submission, .success(answer(decision.result(at: offset), at: offset)))
        case .commit(_, let decision):
            mustRetryRest = true
            if let audit = submission.audit {
                audits.append(audit)
            } else if let refusal = refusal(for: failure, decision) {
                answer(submission, .failure(refusal))
            } else {
                again.append(submission)
            }
        // An audit that could not be decided is dropped.
        case _ where submission.audit != nil: break
        case .waiting: again.append(submission)
        case .poisoned(let error), .unavailable(let error): answer(submission, .failure(error))
        case .nothing, .repeats, .failed:
            switch standing {
            case .confirmed where !mustRetryRest: answer(submission, judgment(entry.outcome))
            case .confirmed: again.append(submission)
            case .outdated(let confirmedEnd):
                var submission = submission
                submission.confirmedEnd = confirmedEnd ?? submission.confirmedEnd
                again.append(submission)
            case .unconfirmed(let error): answer(submission, .failure(error))
            }
        }
    }

    private mutating func answer(_ submission: Submission, _ result: Result<Answer, any Error>) {
        list.append((submission, result))
    }

    private func answer(_ result: RequestResult, at offset: UInt64?) -> Answer {
        var snapshot = reader.make(snapshot)
        // The request was applied, so reading its result must not fail.
        snapshot.acceptsNewer = true
        return Answer(result: result, offset: offset, snapshot: snapshot)
    }

    /// Returns the refusal of a request whose commit was not appended; nil if the request is to be judged again.
    private func refusal(for failure: AppendFailure?, _ decision: Decision) -> Refusal? {
        switch failure {
        case .unknown(let error):
            Refusal(
                .serverResponseLost, "The request may or may not have been applied: \(error)",
                retryAfterSeconds: log.isShared ? Refusal.serverRetrySeconds : nil)
        case .notWritten(let error):
            Refusal(
                .serviceUnavailable, "Nothing was written: \(error)",
                retryAfterSeconds: log.isShared && error.code == .unreachable ? Refusal.serverRetrySeconds : nil)
        case .tooLarge(let limit):
            Refusal(
                .limitExceeded, "\(decision.eventCount) changes take more than the \(limit) bytes of a commit.")
        case .conflict, nil: nil
        }
    }

    /// Returns the answer to a request that wrote nothing, or repeats one that did.
    private func judgment(_ outcome: Batch.Outcome) -> Result<Answer, any Error> {
        switch outcome {
        case .nothing(let decision): .success(answer(decision.result(at: 0), at: nil))
        case .repeats(let offset): committed(at: offset)
        case .failed(let error): .failure(error)
        case .commit, .poisoned, .unavailable, .waiting: preconditionFailure("an outcome that is answered elsewhere")
        }
    }

    /// Returns the answer to a request whose commit is in the log.
    ///
    /// - Parameter request: the request that the commit must be of; nil if this process found the commit.
    func committed(at offset: UInt64, as request: Request? = nil) -> Result<Answer, any Error> {
        Result {
            guard offset > log.floor.offset, let commit = try log.commit(at: offset) else {
                throw Refusal(
                    .serverRejectedRequest, "This request was applied earlier, but its result is no longer in the log.")
            }
            return answer(try RequestResult(of: commit, as: request), at: offset)
        }
    }
}
