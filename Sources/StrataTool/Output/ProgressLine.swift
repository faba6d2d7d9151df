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
