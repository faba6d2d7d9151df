import StrataModel
import StrataSystem

/// What waits for one device. It is bounded: what is newer takes the place of what is older.
public final class Mailbox: Sendable {
    /// More pushes than these do not wait: the oldest are dropped (B188).
    static let maximumCount = 128

    private struct State {
        /// In the order of their first commits.
        var waiting: [Push] = []
        var reader: CheckedContinuation<Push?, Never>?
        var isClosed = false
        /// Everything up to here has been looked at.
        var seenThrough: UInt64 = 0
        var badge: UInt64 = 0
        /// Whether something was handed out since it was noted last.
        var hasNews = false
    }

    let actor: Actor
    private let state = Lock(State())
    private let onClose: @Sendable (Mailbox) -> Void

    init(_ actor: Actor, onClose: @escaping @Sendable (Mailbox) -> Void) {
        self.actor = actor
        self.onClose = onClose
    }

    // MARK: The device

    /// The next push; nil once the store is closed, or ``close()`` was called, or the task is cancelled. One caller at
    /// a time.
    public func next() async -> Push? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (push, isReady): (Push?, Bool) = state.withLock { state in
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

    /// The next push, if one waits; for somebody who knows that all that there is has come.
    package func takeWaiting() -> Push? { state.withLock { $0.isClosed ? nil : Self.takeFirst(&$0) } }

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

    /// The device listens no longer. What waits is found again when it does.
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

    /// - Parameter isNews: whether it is to be noted that the device listens.
    func begin(seenThrough: UInt64, badge: UInt64, isNews: Bool) {
        state.withLock { state in
            (state.seenThrough, state.badge) = (seenThrough, badge)
            if isNews { state.hasNews = true }
        }
    }

    /// A device that has just left gets nothing, but what came for it counts for what is noted of it.
    func offer(_ push: Push) {
        let reader = state.withLock { state -> (CheckedContinuation<Push?, Never>, Push)? in
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

    /// How far the device has been told, if that is worth noting.
    func takeNews() -> (through: UInt64, badge: UInt64)? {
        state.withLock { state in
            guard state.hasNews else { return nil }
            state.hasNews = false
            let pending = state.waiting.map(\.firstOffset).min()
            return (pending.map { $0 - 1 } ?? state.seenThrough, state.badge)
        }
    }

    func noteIsLost() { state.withLock { $0.hasNews = true } }

    /// Whether nothing will come any more.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    var waitingCount: Int { state.withLock { $0.waiting.count } }
}
