/// Shows the progress of work with an unknown end, if standard error is a terminal.
final class ProgressLine {
    private let isShown = Diagnostics.isTerminal
    private var isThere = false

    func show(_ text: String) {
        guard isShown else { return }
        Progress.end()
        // The rest of a longer text is erased after it, so that the line does not flicker.
        Diagnostics.write("\r\(text)\u{1B}[K")
        isThere = true
    }

    /// Erases the line, so that other output starts on a clean one.
    func clear() {
        if isThere { Diagnostics.write("\r\u{1B}[K") }
        isThere = false
    }
}

/// Shows the progress of long work as a bar.
final class ProgressBar {
    private static let width = 40

    private let line = ProgressLine()
    private var shownPercent = -1

    func show(_ done: Int, of total: Int) {
        guard total > 0 else { return }
        let percent = min(100, done / max(1, total / 100))
        guard percent != shownPercent else { return }
        shownPercent = percent
        let filled = percent * Self.width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        line.show("[\(bar)] \(percent) %")
    }

    /// Erases the bar, so that other output starts on a clean line.
    func clear() {
        line.clear()
        shownPercent = -1
    }
}
