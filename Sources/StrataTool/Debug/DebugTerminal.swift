import Glibc
import StrataModel
import StrataSystem

/// Reads lines typed at a terminal: in a line editor, or plainly if that is not possible.
final class DebugTerminal {
    private let isPlain = isatty(STDOUT_FILENO) != 1 || Environment.text("TERM") == "dumb"
    private var editor: LineEditor?
    private var reader: LineReader?

    /// Returns nil when the session ends.
    func next(_ session: DebugSession) throws -> String? {
        try session.output.flush()
        let isTyped = !isPlain && TerminalMode.enterTyping()
        defer {
            // After the line and before Ctrl-C interrupts again, so that no interrupt of the next command is lost.
            StopRequest.forget()
            if isTyped { TerminalMode.enterRunning() }
        }
        if isTyped { return try edit(session) }
        session.output.write(session.prompt)
        try session.output.flush()
        let reader = try self.reader ?? LineReader("-")
        self.reader = reader
        return try reader.next { String(decoding: $0, as: UTF8.self) }
    }

    private func edit(_ session: DebugSession) throws -> String? {
        let editor = self.editor ?? makeEditor(session)
        self.editor = editor
        while true {
            switch try editor.read(session.prompt) {
            case .line(let text): return text
            case .interrupted: continue
            case .ended: return nil
            }
        }
    }

    private func makeEditor(_ session: DebugSession) -> LineEditor {
        LineEditor(
            history: LineHistory(path: LineHistory.defaultPath()), keys: LineKeyReader(byte: Self.byte),
            show: Self.show
        ) { [weak session] text in
            // Without a readable state there are no completions.
            let found = session.flatMap { try? DebugCompletion($0).completion(of: text) }
            return found ?? LineEditor.Completion(start: 0, candidates: [])
        }
    }

    private static func byte(_ milliseconds: Int32?) throws -> UInt8? {
        if let milliseconds {
            var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, milliseconds) > 0 else { return nil }
        }
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }

    private static func show(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
