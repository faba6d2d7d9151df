import StrataSystem

/// The time at which a running operation without a result fails; canceled once nothing refers to the object.
///
/// All operations share one timer, which is set to the earliest deadline. It is not changed when an operation ends in
/// time, as nearly all do: then it fires and finds nothing to do. With a timer for each, the system would start dozens
/// of threads.
final class OperationDeadline: Sendable {
    private struct Entry {
        var time: DispatchTime
        let expire: @Sendable () -> Void
    }

    private struct Shared {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The time at which the timer fires; nil if it is not set.
        var next: DispatchTime?
    }

    private static let shared = Lock(Shared())

    // The source is created once and only scheduled afterward, which is safe from every thread.
    nonisolated(unsafe) private static let timer: any DispatchSourceTimer = {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "CloudKit.deadlines"))
        timer.setEventHandler { expireAll() }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        return timer
    }()

    init(in seconds: TimeInterval, expire: @escaping @Sendable () -> Void) {
        let entry = Entry(time: .now() + seconds, expire: expire)
        Self.shared.withLock { shared in
            shared.entries[ObjectIdentifier(self)] = entry
            Self.setTimer(to: entry.time, &shared)
        }
    }

    /// Restarts the timeout.
    func restart(_ seconds: TimeInterval) {
        let time = DispatchTime.now() + seconds
        Self.shared.withLock { shared in
            shared.entries[ObjectIdentifier(self)]?.time = time
            Self.setTimer(to: time, &shared)
        }
    }

    deinit {
        // Destroyed outside the lock: what the closure holds may have deadlines of its own.
        let removed = Self.shared.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(self)) }
        withExtendedLifetime(removed) {}
    }

    private static func expireAll() {
        let expired = shared.withLock { shared in
            let now = DispatchTime.now()
            let expired = shared.entries.filter { $0.value.time <= now }
            for id in expired.keys { shared.entries[id]?.time = .distantFuture }
            shared.next = nil
            if let earliest = shared.entries.values.map(\.time).min() { setTimer(to: earliest, &shared) }
            return expired
        }
        for entry in expired.values { entry.expire() }
    }

    /// Sets the timer to a time, unless it fires earlier anyway.
    private static func setTimer(to time: DispatchTime, _ shared: inout Shared) {
        guard time != .distantFuture, shared.next.map({ time < $0 }) ?? true else { return }
        shared.next = time
        timer.schedule(deadline: time)
    }
}
