/// How far long work has come, on a terminal's standard error; elsewhere nothing.
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

    /// Takes the bar away, so that what follows begins on a clean line.
    func clear() {
        if shownPercent >= 0 { Diagnostics.write("\r\u{1B}[K") }
        shownPercent = -1
    }
}
