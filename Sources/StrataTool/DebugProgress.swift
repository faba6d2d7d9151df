import StrataSystem

/// Shows from any thread how far a walk through the commits has come.
final class DebugProgress: Sendable {
    private let bar: Lock<ProgressBar>
    private let first: UInt64
    private let last: UInt64

    init(from first: UInt64, to last: UInt64) {
        bar = Lock(ProgressBar())
        (self.first, self.last) = (first, last)
    }

    func show(_ offset: UInt64) {
        let (done, total) = (Int(clamping: offset - min(offset, first)), Int(clamping: last - first))
        bar.withLock { $0.show(done, of: total) }
    }

    func clear() { bar.withLock { $0.clear() } }
}
