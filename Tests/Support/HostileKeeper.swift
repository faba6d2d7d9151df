import StrataModel
import StrataReplication
import StrataSystem

/// A keeper of messages that behaves as badly as any may, as one process sees it; others see the same messages through
/// others.
package final class HostileKeeper: MessageKeeper {
    /// The rates, per thousand calls, of what a keeper may do.
    package struct FaultProfile: Sendable {
        /// The message is kept, and the answer is lost.
        package var lostAnswers = 0
        /// The message is lost, and so is the answer.
        package var lostMessages = 0
        /// The answer is lost, and the message comes some calls later; its expectation counts then.
        package var lateMessages = 0
        /// The message is kept twice.
        package var doubles = 0
        /// Nothing is kept, and the answer says that another message is in the way.
        package var phantoms = 0
        /// Messages cannot be read.
        package var unreachable = 0
        /// A message is not shown until the keeper has to confirm what it shows.
        package var hiddenMessages = 0
        /// Nothing is kept, and the keeper says so, from the call with this number on.
        package var lastCall = Int.max
        /// Messages are acknowledged and not kept, as no keeper may.
        package var lies = 0

        package init() {}

        package static let everything: FaultProfile = {
            var faults = FaultProfile()
            (faults.lostAnswers, faults.lostMessages, faults.lateMessages) = (80, 80, 80)
            (faults.doubles, faults.phantoms, faults.unreachable) = (80, 80, 20)
            faults.hiddenMessages = 150
            return faults
        }()
    }

    private struct State {
        var calls = 0
        var late = LateArrivals<Message>()
        var isConfirmed = false
    }

    private struct Message {
        var bytes: [UInt8]
        var name: String
        var expecting: UInt64?
    }

    private let inner: MemoryKeeper
    private let faults: FaultProfile
    private let random: SeededRandom
    private let state = Lock(State())

    package init(_ inner: MemoryKeeper, _ faults: FaultProfile, seed: UInt64) {
        (self.inner, self.faults, random) = (inner, faults, SeededRandom(seed: seed))
    }

    package func maximumMessageBytes() throws -> Int { inner.maximumMessageBytes() }

    private func happens(_ perThousand: Int) -> Bool { random.happens(perThousand) }

    private static let lost = StrataError(.unreachable, "The answer was lost, as configured.")

    package func keep(_ bytes: [UInt8], as name: String, expecting: UInt64?) -> SequencerAnswer {
        deliverLate()
        let calls = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        if calls >= faults.lastCall { return .refused(StrataError(.inputOutput, "No more, as configured.")) }
        if happens(faults.lostMessages) { return .unknown(Self.lost) }
        if happens(faults.phantoms), expecting != nil { return .taken }
        if happens(faults.lies) { return .accepted(.max) }
        if happens(faults.lateMessages) {
            let message = Message(bytes: bytes, name: name, expecting: expecting)
            state.withLock { $0.late.add(message, random) }
            return .unknown(Self.lost)
        }
        let answer = inner.keep(bytes, as: name, expecting: expecting)
        if happens(faults.doubles) { _ = inner.keep(bytes, as: name, expecting: expecting) }
        return happens(faults.lostAnswers) ? .unknown(Self.lost) : answer
    }

    private func deliverLate() {
        let arrived = state.withLock { $0.late.next() }
        for message in arrived { _ = inner.keep(message.bytes, as: message.name, expecting: message.expecting) }
    }

    package func message(_ name: String) throws -> KeptMessage? {
        deliverLate()
        if happens(faults.unreachable) { throw Self.lost }
        let isConfirmed = state.withLock { state in
            defer { state.isConfirmed = false }
            return state.isConfirmed
        }
        return !isConfirmed && happens(faults.hiddenMessages) ? nil : inner.message(name)
    }

    package func confirm() throws { state.withLock { $0.isConfirmed = true } }

    package func names(_ pattern: String) throws -> [String] { inner.names(pattern) }
    package func remove(below words: String) throws { inner.remove(below: words) }
    package func close() {}
}
