/// Shows the progress of work with an unknown end, if standard error is a terminal.
final class ProgressLine {
    private let isShown = Diagnostics.isTerminal
    private var isThere = false

    func show(_ text: String) {
        guard isShown else { return }
        Progress.end()
        Diagnostics.write("\r\u{1B}[K\(text)")
        isThere = true
    }

    /// Erases the line, so that other output starts on a clean one.
    func clear() {
        if isThere { Diagnostics.write("\r\u{1B}[K") }
        isThere = false
    }
}
