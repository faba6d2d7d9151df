/// Shows the progress of long work if standard error is a terminal.
final class ProgressBar {
    private static let width = 40

    private let isShown = Diagnostics.isTerminal
    private var shownPercent = -1

    func show(_ done: Int, of total: Int) {
        guard isShown, total > 0 else { return }
        if shownPercent < 0 { Progress.end() }
        let percent = min(100, done / max(1, total / 100))
        guard percent != shownPercent else { return }
        shownPercent = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        Diagnostics.write("\r[\(bar)] \(percent) %")
    }

    /// Erases the bar, so that other output starts on a clean line.
    func clear() {
        if shownPercent >= 0 { Diagnostics.write("\r\u{1B}[K") }
        shownPercent = -1
    }
}
