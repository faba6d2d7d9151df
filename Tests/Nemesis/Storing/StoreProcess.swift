import Foundation
import StrataModel
import StrataSystem
import TestSupport

/// A process that writes the store, started again whenever it ends.
final class StoreProcess: Sendable {
    /// An operation as it is sent.
    struct Operation {
        var number: Int
        var text: String
    }

    private struct State {
        var process: pid_t?
        /// The pipe to its standard input, once it is ready.
        var input: Int32?
        var incarnation = 0
        var unanswered: Set<Int> = []
        var wasKilled = false
        var restartMilliseconds = 0
        var isOver = false
        /// The operations that had no answer when the quiet time began; nil before.
        var askedBefore: Set<Int>?
        var hasAcknowledged = false
    }

    let index: Int
    let copy: String
    private let arguments: [String]
    private let history: History
    private let tally: Tally
    private let state = Monitor(State())
    /// Held while lines are written, so that those of two clients do not mix.
    private let writing = Lock(true)
    private let deliver: @Sendable (_ number: Int, _ answer: String) -> Void

    private static let openingSeconds = 120.0

    /// - Parameters:
    ///   - arguments: the place of the store, the directory of its files, and the copy.
    ///   - deliver: called with each answer.
    init(
        _ index: Int, _ arguments: (place: String, files: String, copy: String), fault: InjectedFault?,
        _ history: History, _ tally: Tally, deliver: @escaping @Sendable (Int, String) -> Void
    ) {
        self.index = index
        copy = arguments.copy
        self.arguments =
            ["work", arguments.place, arguments.files, arguments.copy, arguments.copy + ".in"]
            + (fault.map { [$0.rawValue] } ?? [])
        (self.history, self.tally, self.deliver) = (history, tally, deliver)
    }

    var isReady: Bool { state.withLock { $0.input != nil } }
    var isRunning: Bool { state.withLock { $0.process != nil } }

    // MARK: The process

    /// Starts the process and passes on its answers, until it ended after ``finish()``.
    func run() {
        while state.withLock({ !$0.isOver }) {
            do { try runOnce() } catch { tally.violation("process \(index): \(error)") }
            let pause = state.withLock { state in
                defer { state.restartMilliseconds = 0 }
                return state.restartMilliseconds
            }
            if pause > 0 { state.wait(milliseconds: pause) { $0.isOver ? () : nil } }
        }
    }

    private func runOnce() throws {
        let pipe = copy + ".in"
        unlink(pipe)
        guard mkfifo(pipe, 0o600) == 0 else { throw StrataError.systemCall("mkfifo", path: pipe, errno: errno) }
        // Open for both, so that neither side waits for the other one to open it.
        let both = open(pipe, O_RDWR | O_CLOEXEC)
        let child = try ChildProcess(
            ChildProcess.product("nemesis"), arguments, environment: ["SWIFT_BACKTRACE": "enable=no"],
            errors: copy + ".errors")
        state.withLock { state in
            state.process = child.identifier
            state.incarnation += 1
            state.wasKilled = false
        }
        var isReady = false
        if case .line("ready") = child.nextLine(withinSeconds: Self.openingSeconds) {
            isReady = true
            let input = open(pipe, O_WRONLY | O_CLOEXEC)
            let isOver = state.withLock { state in
                if !state.isOver { state.input = input }
                return state.isOver
            }
            // One that opens after ``finish()`` has nothing to do: it ends at the end of its input.
            if isOver { close(input) }
        } else if state.withLock({ !$0.wasKilled }), Glibc.kill(child.identifier, 0) == 0 {
            // It ends by itself after an error, and otherwise hangs.
            if case .silence = child.nextLine(withinSeconds: 1) { tally.violation("process \(index) does not open") }
        }
        close(both)
        reading: while isReady {
            switch child.nextLine(withinSeconds: 10) {
            case .line(let line): take(line)
            case .silence: continue
            case .end: break reading
            }
        }
        end(child, wasReady: isReady)
    }

    private func take(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let number = Int(parts[0]) else { return tally.violation("process \(index): \(line)") }
        guard state.withLock({ $0.unanswered.remove(number) != nil }) else {
            return tally.violation("process \(index) answered \(number) twice: \(line)")
        }
        history.note(["< " + line])
        if parts[1].hasPrefix("ok ") { noteAcknowledgement(of: number) }
        deliver(number, String(parts[1]))
    }

    // MARK: The quiet time

    /// Begins to look for the acknowledgment of something that is asked from now on.
    func beginQuietTime() { state.withLock { $0.askedBefore = $0.unanswered } }

    /// Returns after that, or at the end of the time for it.
    func awaitAcknowledgement(until end: ContinuousClock.Instant) {
        let left = max(.zero, ContinuousClock.now.duration(to: end))
        state.wait(milliseconds: Int(left / .milliseconds(1))) { $0.hasAcknowledged ? () : nil }
    }

    private func noteAcknowledgement(of number: Int) {
        let isFirst = state.withLock { state in
            guard let before = state.askedBefore, !state.hasAcknowledged, !before.contains(number) else { return false }
            state.hasAcknowledged = true
            return true
        }
        if isFirst { state.notifyAll() }
    }

    /// Notes the end of the process. Its operations without an answer may have been carried out.
    private func end(_ child: ChildProcess, wasReady: Bool) {
        let input = state.withLock { state in
            state.process = nil
            defer { state.input = nil }
            return state.input
        }
        let status = child.kill()
        writing.withLock { _ in _ = input.map { close($0) } }
        let (unanswered, isExpected) = state.withLock { state -> (Set<Int>, Bool) in
            defer { state.unanswered = [] }
            let hasFailedToOpen = status == StoreWorker.unreachableStatus << 8 && !wasReady
            if hasFailedToOpen { tally.noteFailedOpening() }
            return (state.unanswered, state.wasKilled || hasFailedToOpen || state.isOver && status == 0)
        }
        for number in unanswered.sorted() {
            history.note(["< \(number) unknown"])
            deliver(number, "unknown")
        }
        if !isExpected {
            let errors = (try? String(contentsOfFile: copy + ".errors", encoding: .utf8)) ?? ""
            let last = errors.split(separator: "\n").last ?? ""
            tally.violation("process \(index) ended by itself with status \(status): \(last.prefix(600))")
            state.withLock { $0.restartMilliseconds = 1_000 }
        }
    }

    // MARK: Operations

    /// Sends operations, and returns false if the process cannot take any now.
    func send(_ operations: [Operation]) -> Bool {
        let target = state.withLock { state -> (input: Int32, incarnation: Int)? in
            guard let input = state.input else { return nil }
            for operation in operations { state.unanswered.insert(operation.number) }
            // Under the lock, so that no answer is noted first.
            history.note(operations.map { "> \(index).\(state.incarnation) \($0.number) \($0.text)" })
            return (input, state.incarnation)
        }
        guard let target else { return false }
        let bytes = Array(operations.map { "\($0.number) \($0.text)\n" }.joined().utf8)
        writing.withLock { _ in
            // The pipe of a process that ended is closed under the same lock.
            guard state.withLock({ $0.input == target.input && $0.incarnation == target.incarnation }) else { return }
            var start = 0
            while start < bytes.count {
                let count = bytes[start...].withUnsafeBytes { write(target.input, $0.baseAddress, $0.count) }
                if count < 0 { break }
                start += count
            }
        }
        return true
    }

    // MARK: Faults

    /// Sends a signal to the process if it runs.
    func signal(_ number: Int32) {
        state.withLock { state in
            if let process = state.process { Glibc.kill(process, number) }
        }
    }

    /// Ends the process as the system does it when memory runs out, and starts it again later.
    func kill(restartMilliseconds: Int) {
        state.withLock { state in
            guard let process = state.process else { return }
            (state.wasKilled, state.restartMilliseconds) = (true, restartMilliseconds)
            Glibc.kill(process, SIGKILL)
        }
    }

    /// Lets the process end by itself after it answered everything, and not start again.
    func finish() {
        let input = state.withLock { state in
            state.isOver = true
            defer { state.input = nil }
            return state.input
        }
        state.notifyAll()
        writing.withLock { _ in _ = input.map { close($0) } }
    }
}
