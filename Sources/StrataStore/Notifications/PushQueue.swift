import StrataModel
import StrataSystem

/// The pushes that wait for one device. Their number is bounded: newer pushes replace older ones.
public final class PushQueue: Sendable {
    /// The maximum number of waiting pushes; beyond it, the oldest are dropped (B188).
    static let maximumCount = 128

    private struct State {
        /// In the order of their first commits.
        var waiting: [Push] = []
        var reader: CheckedContinuation<Push?, Never>?
        var isClosed = false
        /// Everything up to here has been examined.
        var seenThrough: UInt64 = 0
        var badge: UInt64 = 0
        /// True if a push was handed out since the delivery was last noted.
        var hasNews = false
    }

    let actor: Actor
    private let state = Lock(State())
    private let onNews: @Sendable () -> Void
    private let onClose: @Sendable (PushQueue) -> Void

    /// - Parameter onNews: called when there is something new to note about the device.
    init(
        _ actor: Actor, onNews: @escaping @Sendable () -> Void, onClose: @escaping @Sendable (PushQueue) -> Void
    ) {
        self.actor = actor
        self.onNews = onNews
        self.onClose = onClose
    }

    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, isNews) = state.withLock { state in
            let hadNews = state.hasNews
            let value = body(&state)
            return (value, state.hasNews && !hadNews)
        }
        if isNews { onNews() }
        return value
    }

    // MARK: The device

    /// Returns the next push; nil once the store is closed, ``close()`` was called, or the task is canceled. Only one
    /// caller may wait at a time.
    public func next() async -> Push? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (push, isReady): (Push?, Bool) = change { state in
                    if state.isClosed || Task.isCancelled { return (nil, true) }
                    if let push = Self.takeFirst(&state) { return (push, true) }
                    state.reader?.resume(returning: nil)
                    state.reader = continuation
                    return (nil, false)
                }
                if isReady { continuation.resume(returning: push) }
            }
        } onCancel: {
            close()
        }
    }

    /// Returns the next push if one is waiting, for a caller that knows that all pushes have arrived.
    package func takeWaiting() -> Push? { change { $0.isClosed ? nil : Self.takeFirst(&$0) } }

    private static func takeFirst(_ state: inout State) -> Push? {
        guard !state.waiting.isEmpty else { return nil }
        var push = state.waiting.removeFirst()
        state.hasNews = true
        if push.notification?.shouldBadge == true {
            state.badge += 1
            push.badge = state.badge
        }
        return push
    }

    /// Ends listening. The pushes that still wait are found again when the device next listens.
    public func close() {
        let reader = state.withLock { state -> CheckedContinuation<Push?, Never>?? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            defer { state.reader = nil }
            return .some(state.reader)
        }
        guard let reader else { return }
        reader?.resume(returning: nil)
        onClose(self)
    }

    // MARK: The notifier

    /// - Parameter isNews: true if the log must note that the device listens.
    func begin(seenThrough: UInt64, badge: UInt64, isNews: Bool) {
        change { state in
            (state.seenThrough, state.badge) = (seenThrough, badge)
            if isNews { state.hasNews = true }
        }
    }

    /// Sets the number from which the next push continues to count.
    func setBadge(_ badge: UInt64) {
        change { state in
            state.badge = badge
            state.hasNews = true
        }
    }

    /// Adds a push. A device that has just left does not get it, but the push counts for the note about the device.
    func offer(_ push: Push) {
        let reader = change { state -> (CheckedContinuation<Push?, Never>, Push)? in
            if let index = state.waiting.firstIndex(where: { $0.key == push.key }) {
                state.waiting[index] = push.merged(with: state.waiting[index])
            } else {
                state.waiting.append(push)
                if state.waiting.count > Self.maximumCount { state.waiting.removeFirst() }
            }
            guard let reader = state.reader, let first = Self.takeFirst(&state) else { return nil }
            state.reader = nil
            return (reader, first)
        }
        if let (reader, push) = reader { reader.resume(returning: push) }
    }

    func advance(to offset: UInt64) { state.withLock { $0.seenThrough = max($0.seenThrough, offset) } }

    /// Returns the offset up to which the device has been notified, and its badge; nil if nothing new is to be noted.
    func takeNews() -> (through: UInt64, badge: UInt64)? {
        state.withLock { state in
            guard state.hasNews else { return nil }
            state.hasNews = false
            let pending = state.waiting.map(\.firstOffset).min()
            return (pending.map { $0 - 1 } ?? state.seenThrough, state.badge)
        }
    }

    func noteIsLost() { change { $0.hasNews = true } }

    /// True once no more pushes will come.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    var waitingCount: Int { state.withLock { $0.waiting.count } }
}
