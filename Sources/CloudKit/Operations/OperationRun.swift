import Foundation
import StrataSystem

/// One execution of an operation, with the properties that it had at its start.
///
/// Only `deliver` calls its blocks, on the operation's own queue; they need no lock.
protocol OperationRun: Sendable {
    associatedtype Outcome: Sendable

    var settings: CallSettings { get }
    /// The error code if no answer arrives in time.
    var timeoutCode: CKError.Code { get }

    /// Makes the operation's requests. A run with several requests delivers intermediate results itself.
    func perform(_ pieces: OperationPieces) async throws -> Outcome

    /// Calls the blocks: for each item, then for the whole. It calls `isCancelled` before each.
    func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool)
}

/// Delivers the results that an operation has before it ends.
struct OperationPieces: Sendable {
    /// Calls blocks on the operation's queue, and returns once they have returned; false if the operation has ended or
    /// was canceled in the meantime. The blocks receive a closure that tells whether it was canceled.
    let emit: @Sendable (_ blocks: @escaping @Sendable (_ isCancelled: () -> Bool) -> Void) async -> Bool
    /// Schedules a block on the operation's queue without waiting for it. The block is skipped if the operation is
    /// canceled or finished by then.
    let report: @Sendable (_ block: @escaping @Sendable () -> Void) -> Void
}

extension CKOperation {
    /// Executes the subclass's run on a queue of its own.
    func execute() {
        let queue = BlockQueue()
        guard let run = makeRun() else {
            // An abstract operation has no block to call.
            queue.async { self.finish() }
            return
        }
        execute(run, on: queue)
    }

    private func execute<Run: OperationRun>(_ run: Run, on queue: BlockQueue) {
        if isCancelled { return settle(run, .failure(.cancelled), on: queue) }
        if let timeout = run.settings.timeout {
            guard timeout > 0 else { return settle(run, .failure(run.timeoutError), on: queue) }
            watch(run, timeout, on: queue)
        }
        let keeper = makeKeeper()
        let persisted = PersistedBlock(call: longLivedOperationWasPersistedBlock)
        Task(priority: run.settings.qualityOfService.taskPriority) {
            if isCancelled { return settle(run, .failure(.cancelled), on: queue) }
            let outcome: Result<Run.Outcome, CKError>
            do {
                if let keeper {
                    try keeper()
                    // If the operation has timed out, it has ended, and only this code removes what was kept.
                    guard report(persisted, on: queue) else { return forget() }
                }
                outcome = .success(try await run.perform(pieces(of: run, on: queue)))
            } catch {
                outcome = .failure(CKError(engine: error))
            }
            settle(run, outcome, on: queue)
        }
    }

    private func pieces<Run: OperationRun>(of run: Run, on queue: BlockQueue) -> OperationPieces {
        OperationPieces(
            emit: { [self] blocks in
                await withCheckedContinuation { continuation in
                    queue.async { [self] in
                        if !progress.withLock({ $0.isSettled }) { blocks { isCancelled } }
                        // Each piece is an answer from the store, so the timeout restarts.
                        if let timeout = run.settings.timeout { progress.withLock { $0.deadline?.restart(timeout) } }
                        continuation.resume(returning: !isCancelled && !progress.withLock { $0.isSettled })
                    }
                }
            },
            // A block scheduled after the outcome is known, but before it is delivered, also keeps its order.
            report: { [self] block in queue.async { [self] in if !isCancelled, !isFinished { block() } } })
    }

    // @unchecked: it is called only on the operation's own queue.
    private struct PersistedBlock: @unchecked Sendable {
        let call: (() -> Void)?
    }

    /// Reports that the operation is persisted, before its result; returns false if the result is already known.
    private func report(_ persisted: PersistedBlock, on queue: BlockQueue) -> Bool {
        progress.withLock { progress in
            guard !progress.isSettled else { return false }
            queue.async { persisted.call?() }
            return true
        }
    }

    private func watch<Run: OperationRun>(_ run: Run, _ timeout: TimeInterval, on queue: BlockQueue) {
        let deadline = OperationDeadline(in: timeout) { [weak self] in
            self?.settle(run, .failure(run.timeoutError), on: queue)
        }
        // The deadline may have passed already.
        progress.withLock { if !$0.isSettled { $0.deadline = deadline } }
    }

    /// Delivers the outcome if it is the first one.
    private func settle<Run: OperationRun>(
        _ run: Run, _ outcome: Result<Run.Outcome, CKError>, on queue: BlockQueue
    ) {
        // The deadline holds the caller's blocks: it is destroyed outside the lock.
        let (isFirst, deadline) = progress.withLock { progress in
            defer {
                progress.isSettled = true
                progress.deadline = nil
            }
            return (!progress.isSettled, progress.deadline)
        }
        withExtendedLifetime(deadline) {}
        guard isFirst else { return }
        queue.async {
            run.deliver(outcome) { self.isCancelled }
            self.forget()
            self.finish()
        }
    }
}

extension OperationRun {
    func fail(_ error: CKError) { deliver(.failure(error)) { false } }

    fileprivate var timeoutError: CKError {
        CKError(timeoutCode, message: "The store did not answer within the operation's timeout.")
    }
}

extension CKError {
    /// The error for items that a canceled operation did not process.
    static var cancelled: CKError { CKError(.operationCancelled, message: "The operation was canceled.") }

    /// The error for an item of a request that the answer says nothing of.
    static var noResult: CKError { CKError(.internalError, message: "The store returned no result.") }
}

extension QualityOfService {
    var taskPriority: TaskPriority {
        switch self {
        case .userInteractive, .userInitiated: .high
        case .utility: .utility
        case .background: .background
        default: .medium
        }
    }
}
