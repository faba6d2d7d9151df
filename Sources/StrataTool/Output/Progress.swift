import Foundation
import Glibc
import StrataSystem
import Synchronization

/// Shows at a terminal that a command is still working: for how long, and how far it has come if that is known.
///
/// The line appears after a second without output and is erased before any output. Work of several parts names each.
enum Progress {
    private struct Line {
        var command: String
        var begin: ContinuousClock.Instant
        /// The part of the work, or what has been done, in words.
        var text = ""
        var isShown = false
        /// True while other output is in the terminal's line.
        var isHeld = false

        mutating func wipe() {
            if isShown { Diagnostics.write("\r\u{1B}[K") }
            isShown = false
        }
    }

    private static let tickMicroseconds: UInt32 = 200_000
    /// The progress line; nil if progress is off.
    private static let line = Lock<Line?>(nil)
    private static let done = Atomic<UInt64>(0)
    private static let total = Atomic<UInt64>(0)

    /// - Parameter isInterruptible: pass false for a command that handles interrupts, and keeps running.
    static func begin(_ command: String, isInterruptible: Bool = true) {
        guard Diagnostics.isTerminal, !isPiped else { return }
        if isInterruptible { Cleanup.listen() }
        note(0, of: 0)
        let begin = ContinuousClock.now
        line.withLock { $0 = Line(command: command, begin: begin) }
        Thread.detachNewThread {
            while tick(since: begin) { usleep(tickMicroseconds) }
        }
    }

    /// Reports the amount of work done and the total, 0 if unknown. Cheap enough to call for every commit.
    static func note(_ done: UInt64, of total: UInt64) {
        Self.done.store(done, ordering: .relaxed)
        Self.total.store(total, ordering: .relaxed)
    }

    /// Names the part of the work that begins, or says what has been done where a number does not.
    static func note(_ text: String) {
        line.withLock { $0?.text = text }
        note(0, of: 0)
    }

    /// Erases the line, so that other output starts on a clean one. The next tick shows it again.
    static func wipe() { line.withLock { $0?.wipe() } }

    /// Erases the line, and keeps it away until other output has ended a line of its own.
    static func hold() {
        line.withLock { line in
            line?.wipe()
            line?.isHeld = true
        }
    }

    /// Lets the next tick show the line again.
    static func release() { line.withLock { $0?.isHeld = false } }

    /// Erases the line and stops progress.
    static func end() {
        wipe()
        line.withLock { $0 = nil }
    }

    /// Shows no progress if output goes to a pipe, since the reader may use the terminal.
    private static var isPiped: Bool {
        var status = stat()
        return fstat(STDOUT_FILENO, &status) != 0 || status.st_mode & S_IFMT == S_IFIFO
            || status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns false once progress has stopped.
    private static func tick(since begin: ContinuousClock.Instant) -> Bool {
        line.withLock { line in
            guard let shown = line, shown.begin == begin else { return false }
            let seconds = (ContinuousClock.now - shown.begin).components.seconds
            guard seconds >= 1, !shown.isHeld else { return true }
            let text = shown.text.isEmpty ? "" : shown.text + ", "
            Diagnostics.write("\r\u{1B}[Kstrata \(shown.command): \(text)\(place)\(seconds) s")
            line?.isShown = true
            return true
        }
    }

    private static var place: String {
        let (done, total) = (done.load(ordering: .relaxed), total.load(ordering: .relaxed))
        guard done > 0 else { return "" }
        return total == 0 ? "\(done), " : "\(done) of \(total) (\(done * 100 / max(1, total)) %), "
    }
}
