import StrataModel
import StrataSystem

/// Asks other processes for answers, and notices those that are gone (docs/replication-internals.md §6).
///
/// A request is sent only to a process that has just given a sign of life. While its answer is late, the process is
/// asked for another sign.
package final class CarriedQuestions: Sendable {
    /// The time without an answer after which the other process is asked for a sign of life.
    private static let patienceMilliseconds = 1_000
    /// The time after an answer in which no sign of life is needed.
    private static let trustTime = Duration.seconds(1)

    private let answered = Lock<(process: Identifier, time: ContinuousClock.Instant)?>(nil)

    package init() {}

    /// Stops trusting any process, for example because the connection was lost.
    package func forget() { answered.withLock { $0 = nil } }

    /// - Parameters:
    ///   - needsSign: true to ask for a sign of life in any case.
    ///   - silence: the error if neither an answer nor a sign of life comes.
    ///   - isThere: asks the process for a sign of life. The argument is true before the request is sent.
    ///   - send: sends the request; returns false if it certainly was not sent.
    ///   - receive: returns the answer, or nil if none comes in time.
    package func ask(
        _ process: Identifier, milliseconds: Int, needsSign: Bool = false, silence: StrataError,
        isThere: (_ isFirst: Bool) -> Bool, send: () throws -> Bool,
        receive: (_ milliseconds: Int) throws -> CarriedAnswer?
    ) -> CarriedAnswer {
        let start = ContinuousClock.now
        guard trusts(process, at: start) && !needsSign || isThere(true) else { return .undelivered }
        do {
            guard try send() else { return .undelivered }
            while start.duration(to: .now) < .milliseconds(milliseconds) {
                if let answer = try receive(Self.patienceMilliseconds) { return noted(answer, of: process) }
                if !isThere(false) { break }
            }
            // The answer may have come just before the process ended.
            return noted(try receive(0) ?? .unknown(silence), of: process)
        } catch { return .unknown(error as? StrataError ?? silence) }
    }

    private func trusts(_ process: Identifier, at now: ContinuousClock.Instant) -> Bool {
        answered.withLock { answered in
            answered.map { $0.process == process && now - $0.time < Self.trustTime } ?? false
        }
    }

    private func noted(_ answer: CarriedAnswer, of process: Identifier) -> CarriedAnswer {
        if case .answer = answer { answered.withLock { $0 = (process, .now) } }
        return answer
    }
}
