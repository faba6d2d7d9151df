/// How far work has come whose end nobody knows, on a terminal's standard error; elsewhere nothing.
final class ProgressLine {
    private let isShown = Diagnostics.isTerminal
    private var isThere = false

    func show(_ text: String) {
        guard isShown else { return }
        Progress.end()
        Diagnostics.write("\r\u{1B}[K\(text)")
        isThere = true
    }

    /// Takes the line away, so that what follows begins on a clean one.
    func clear() {
        if isThere { Diagnostics.write("\r\u{1B}[K") }
        isThere = false
    }
}
