import StrataModel
import StrataSystem
import Synchronization

/// Seals segments in the background, with a lock that keeps two callers from sealing at the same time.
final class Sealer: Sendable {
    /// A pass over the segments that are to be sealed.
    private struct Pass {
        var pace: SealingPace
        var nextLook: ContinuousClock.Instant?
        /// The first offset of the last segment.
        var last: UInt64 = 0
        var failure: StrataError?
    }

    private let isEnding = Atomic(false)
    private let found = Lock<StrataError?>(nil)
    /// Held while a segment is sealed. It counts them, because a lock needs a state that has a size.
    private let working = Lock(0)
    private let appendedBytes = Atomic(0)
    private let job = BackgroundJob()

    var isStopping: Bool { isEnding.load(ordering: .relaxed) }
    /// The first error of the last pass; nil if all segments were sealed.
    var failure: StrataError? { found.withLock { $0 } }

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
        let pass = Lock(Pass(pace: pace))
        try job.start { [self] in pass.withLock { step(&$0, Pass(pace: pace), waitingCount, sealNext) } }
    }

    private func step(
        _ pass: inout Pass, _ next: Pass, _ waitingCount: () -> Int, _ sealNext: (UInt64) throws -> UInt64?
    ) -> BackgroundJob.NextStep {
        // A new segment may have woken the job earlier.
        if let look = pass.nextLook, .now < look { return .at(look) }
        pass.nextLook = nil
        let waiting = waitingCount()
        if waiting > 0, !pass.pace.isDue(waiting: waiting, appendedBytes: appendedBytes.load(ordering: .relaxed)) {
            let look = ContinuousClock.now + .milliseconds(SealingPace.milliseconds)
            pass.nextLook = look
            return .at(look)
        }
        do {
            if let sealed = try sealNext(pass.last) {
                pass.last = sealed
                return .now
            }
        } catch let error as SealingFailure {
            // The segment is left unsealed, which is just as valid, and must not keep others from being sealed.
            pass.failure = pass.failure ?? error.cause as? StrataError
            pass.last = error.firstOffset
            return .now
        } catch {}
        let failure = pass.failure
        found.withLock { $0 = failure }
        pass = next
        return .whenWoken
    }

    /// Called when a segment was closed.
    func wake() { job.wake() }

    func stop() {
        isEnding.store(true, ordering: .relaxed)
        job.stop()
    }
}

/// The failure to seal a segment, which is then left unsealed.
struct SealingFailure: Error {
    var firstOffset: UInt64
    var cause: any Error
}
