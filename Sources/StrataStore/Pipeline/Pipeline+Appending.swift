import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Writes and publishes batches. The caller has the turn to append.
extension Pipeline {
    func append(_ batch: inout Batch) -> BatchAnswers.List {
        let (positions, failure) = write(batch)
        let isAsPlanned =
            failure == nil
            && positions.enumerated().allSatisfy { index, position in
                position.offset == batch.firstOffset + UInt64(index)
            }
        var snapshot = views.pages.snapshot()
        if let fork = batch.fork, isAsPlanned {
            snapshot = following { try publish(batch, fork) }
        } else if !batch.commits.isEmpty {
            batch.fork = nil
            snapshot = following { try recover(from: failure) }
        }
        var standing = BatchAnswers.Standing.confirmed
        if isShared {
            noteContention(batch, failure)
            standing = self.standing(of: batch, positions, failure, &snapshot)
        }
        // A lazy batch changes nothing, so no reader waits for it, unless another process's commits came first.
        if !batch.isLazy || failure != nil { publication.announce(snapshot.foldedOffset(ViewTree.records)) }
        var answers = BatchAnswers(log, reader, showing: snapshot)
        for var entry in batch.entries {
            entry.submission.judgedOn = batch.offset(of: entry.submission.judgedOn, positions)
            answers.add(entry, positions, failure, standing)
        }
        assert(
            answers.lastOffset <= snapshot.foldedOffset(ViewTree.records) || !acceptsWrites,
            "an answer comes after the state that shows it")
        putBack(answers)
        return answers.list
    }

    /// Puts back what is to be judged again, here or at the home writer: others might append first forever.
    private func putBack(_ answers: BatchAnswers) {
        // If it is not known which audits are in the log, nothing more is written.
        if acceptsWrites { audits.putBack(answers.audits) }
        guard !answers.again.isEmpty else { return }
        let own = front?.takeBack(answers.again) ?? answers.again
        state.withLock { $0.queue.putBack(own) }
    }

    /// Returns the state that the body publishes. If a damaged page prevents that, the commits are in the log that the
    /// views are folded from again. If that fails too, stops accepting writes and returns the newest state.
    func following(_ body: () throws -> Snapshot) -> Snapshot {
        do { return try body() } catch {
            if live.note(error, in: views), rebuildDamagedViews() { return views.pages.snapshot() }
            if isShared, let error = error as? StrataError, error.code == .newerFormat { return stop(before: error) }
            // The commits are in the log, but no state shows them, so no request can be decided.
            refuse(StrataError(.refusingWrites, "The views could not follow the log.", cause: error))
            return views.pages.snapshot()
        }
    }

    /// Writes all commits, or a prefix, and returns why it stopped. Continues with the rest if the log accepts only a
    /// part.
    private func write(_ batch: Batch) -> (positions: [Position], failure: AppendFailure?) {
        let commits = batch.commits
        var positions: [Position] = []
        var end = state.withLock { $0.end }
        assert(holdsTurnToAppend, "only the thread with the turn to append writes")
        assert(commits.isEmpty || acceptsWrites, "nothing is written after a refusal")
        assert(commits.isEmpty || batch.firstOffset == end.offset + 1, "batches are appended as they were decided")
        while positions.count < commits.count {
            let rest = positions.isEmpty ? commits : Array(commits[positions.count...])
            do throws(AppendFailure) {
                positions +=
                    try batch.isLazy
                    ? log.appendLazily(rest, expecting: end).positions : log.append(rest, expecting: end).positions
                end = positions.last ?? end
            } catch {
                advance(to: end, commits.prefix(positions.count).last?.time)
                return (positions, error)
            }
        }
        advance(to: end, commits.last?.time)
        return (positions, nil)
    }

    private func advance(to end: Position, _ time: Int64?) {
        state.withLock { state in
            assert(state.turns.isMineToAppend && end.offset >= state.end.offset, "the end moves forward, in a turn")
            state.end = end
            state.endTime = time ?? state.endTime
        }
    }

    /// Makes the views follow a log that differs from the plan. Everything that was decided is decided again.
    func recover(from failure: AppendFailure?) throws -> Snapshot {
        let known = state.withLock { state in
            assert(state.turns.isMineToAppend, "only the thread with the turn to append publishes")
            state.losses += 1
            return state.end
        }
        let before = views.pages.snapshot()
        let bytes: Int
        if case .unknown(let error) = failure {
            if isShared { refuseUntilSettled(error) } else { refuse(error) }
            // Shows the commits acknowledged before; the rest of the log may contain anything.
            bytes = try Replay(log: log, pages: views.pages).run(upTo: known.offset)
        } else {
            // In this order, because the end of a shared log may move: a time that is too late harms nothing.
            let end = log.end
            let time = log.endTime
            bytes = try Replay(log: log, pages: views.pages).run(upTo: end.offset)
            state.withLock { state in
                state.end = end
                state.endTime = time ?? state.endTime
            }
        }
        return try show(bytes, over: before)
    }

    /// Publishes the state that was folded from the log.
    func show(_ bytes: Int, over before: Snapshot) throws -> Snapshot {
        let snapshot = views.pages.snapshot()
        reader.publish(snapshot)
        let commits = snapshot.foldedOffset(ViewTree.records) - before.foldedOffset(ViewTree.records)
        // Each has at least one event.
        if commits > 0 { checkpointer?.didPublish(snapshot, bytes: bytes, events: Int(commits)) }
        try noteCatalog(snapshot, over: before)
        return snapshot
    }

    func refuse(_ error: StrataError) {
        state.withLock { state in
            if state.refusal?.isUnsettled ?? true { state.refusal = .forGood(error) }
            state.losses += 1
        }
    }
}
