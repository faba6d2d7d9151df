import Foundation
import StrataSystem

/// One execution of an operation, with the properties that it had when it started.
///
/// Its blocks are called by `deliver` alone, which runs on the operation's own queue; so they need no lock.
protocol OperationRun: Sendable {
    associatedtype Outcome: Sendable

    var settings: CallSettings { get }
    /// What a caller is told who did not get an answer in time.
    var timeoutCode: CKError.Code { get }

    /// Asks the store. Who asks several times hands over what came in between.
    func perform(_ pieces: OperationPieces) async throws -> Outcome

    /// Calls the blocks: for each item, then for the whole. `isCancelled` is asked before each.
    func deliver(_ outcome: Result<Outcome, CKError>, isCancelled: () -> Bool)
}

/// Hands over what an operation has before it ends.
struct OperationPieces: Sendable {
    /// Calls blocks on the operation's queue, and returns once they have returned; false if the operation has ended or
    /// was cancelled meanwhile. They are told how to ask whether it was cancelled.
    let emit: @Sendable (_ blocks: @escaping @Sendable (_ isCancelled: () -> Bool) -> Void) async -> Bool
    /// Schedules a block on the operation's queue without waiting for it. The block is skipped if the operation is
    /// canceled or finished by then.
    let report: @Sendable (_ block: @escaping @Sendable () -> Void) -> Void
}

extension CKOperation {
    /// Runs what the subclass makes of its properties, on a queue that it has to itself meanwhile.
    func execute() {
        let queue = BlockQueue()
        guard let run = makeRun() else {
            // An abstract operation has no block that could be told.
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
                    // Its time may have run out meanwhile: then it has ended, and nobody else takes away what was kept.
                    guard tell(persisted, on: queue) else { return forget() }
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
            // A block that is scheduled after the outcome is known, but before it is delivered, keeps its order too.
            report: { [self] block in queue.async { [self] in if !isCancelled, !isFinished { block() } } })
    }

    // @unchecked: it is called on the operation's own queue alone.
    private struct PersistedBlock: @unchecked Sendable {
        let call: (() -> Void)?
    }

    /// Says that the operation is kept, before its result; false if that is known already.
    private func tell(_ persisted: PersistedBlock, on queue: BlockQueue) -> Bool {
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
        // It may have passed already.
        progress.withLock { if !$0.isSettled { $0.deadline = deadline } }
    }

    /// The first outcome is the one that counts.
    private func settle<Run: OperationRun>(
        _ run: Run, _ outcome: Result<Run.Outcome, CKError>, on queue: BlockQueue
    ) {
        // The deadline holds the caller's blocks: it goes outside the lock.
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
    /// What whoever cancelled an operation is told of what was not done.
    static var cancelled: CKError { CKError(.operationCancelled, message: "The operation was cancelled.") }
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
