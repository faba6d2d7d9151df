import StrataModel
import StrataSystem
import Synchronization

/// The thread that seals segments, and the lock that keeps two callers from sealing at the same time.
final class Sealer: Sendable {
    private struct State {
        var isStopping = false
        /// True if a segment was closed since the thread last looked.
        var hasWork = true
        var failure: StrataError?
    }

    private let state = Monitor(State())
    /// Held while a segment is sealed. It counts them, because a lock needs a state that has a size.
    private let working = Lock(0)
    private let appendedBytes = Atomic(0)
    private let worker = WorkerHandle()

    var isStopping: Bool { state.withLock { $0.isStopping } }
    var failure: StrataError? { state.withLock { $0.failure } }

    func oneAtATime(_ body: () throws -> UInt64?) throws -> UInt64? {
        try working.withLock { count in
            let sealed = try body()
            if sealed != nil { count += 1 }
            return sealed
        }
    }

    func waitUntilIdle() { working.withLock { _ in } }

    /// Notes that writers are at work.
    func noteAppended(byteCount: Int) { appendedBytes.add(byteCount, ordering: .relaxed) }

    /// - Parameters:
    ///   - pace: decides when the next segment is sealed.
    ///   - waitingCount: returns the number of segments that are to be sealed.
    ///   - sealNext: seals one segment that begins after the given offset, and returns its first offset; nil if there
    ///     is none.
    func start(
        _ pace: SealingPace, waitingCount: @escaping @Sendable () -> Int,
        _ sealNext: @escaping @Sendable (UInt64) throws -> UInt64?
    ) throws {
        try worker.start(name: "strata-seal") { [self] in
            WorkerThread.lowerPriority()
            while true {
                let goesOn = state.wait { state -> Bool? in
                    if state.isStopping { return false }
                    guard state.hasWork else { return nil }
                    state.hasWork = false
                    return true
                }
                guard goesOn else { return }
                sealAll(pace, waitingCount, sealNext)
            }
        }
    }

    /// Waits until a segment is due, or none waits; returns false once sealing ends.
    private func awaitRest(_ pace: inout SealingPace, _ waitingCount: () -> Int) -> Bool {
        while true {
            let waiting = waitingCount()
            let isDue = pace.isDue(waiting: waiting, appendedBytes: appendedBytes.load(ordering: .relaxed))
            if isDue || waiting == 0 { break }
            let isStopping = state.wait(milliseconds: SealingPace.milliseconds) { $0.isStopping ? true : nil }
            if isStopping != nil { return false }
        }
        return !isStopping
    }

    private func sealAll(
        _ pace: SealingPace, _ waitingCount: () -> Int, _ sealNext: (UInt64) throws -> UInt64?
    ) {
        var pace = pace
        var (last, failure): (UInt64, StrataError?) = (0, nil)
        while awaitRest(&pace, waitingCount) {
            do {
                guard let sealed = try sealNext(last) else { break }
                last = sealed
            } catch let error as SealingFailure {
                // The segment is left unsealed, which is just as valid, and must not keep others from being sealed.
                failure = failure ?? error.cause as? StrataError
                last = error.firstOffset
            } catch { break }
        }
        let found = failure
        state.withLock { $0.failure = found }
    }

    /// Called when a segment was closed.
    func wake() {
        state.withLock { $0.hasWork = true }
        state.notifyAll()
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        worker.join()
    }
}

/// The failure to seal a segment, which is then left unsealed.
struct SealingFailure: Error {
    var firstOffset: UInt64
    var cause: any Error
}
