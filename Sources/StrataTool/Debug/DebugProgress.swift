import StrataSystem

/// Shows from any thread how far a walk through the commits has come.
final class DebugProgress: Sendable {
    /// Threads walk through parts of their own: the farthest is what is shown.
    private let shown: Lock<(bar: ProgressBar, done: Int)>
    private let first: UInt64
    private let last: UInt64

    init(from first: UInt64, to last: UInt64) {
        shown = Lock((ProgressBar(), 0))
        (self.first, self.last) = (first, last)
    }

    func show(_ offset: UInt64) {
        let (done, total) = (Int(clamping: offset - min(offset, first)), Int(clamping: last - first))
        shown.withLock { shown in
            shown.done = max(shown.done, done)
            shown.bar.show(shown.done, of: total)
        }
    }

    func clear() { shown.withLock { $0.bar.clear() } }
}
