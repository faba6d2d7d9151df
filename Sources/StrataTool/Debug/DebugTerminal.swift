import Glibc
import StrataModel

/// Reads lines typed at a terminal: in a line editor, or plainly if that is not possible.
final class DebugTerminal {
    private enum Source {
        case editor(LineEditor)
        case plain(LineReader)
    }

    private var source: Source?

    /// Returns nil when the session ends.
    func next(_ session: DebugSession) throws -> String? {
        try session.output.flush()
        let source = try self.source ?? makeSource(session)
        self.source = source
        // After the line, because an interrupt before its end belongs to no command.
        defer { StopRequest.forget() }
        switch source {
        case .editor(let editor):
            let line = editor.read(session.prompt)
            if line == nil { session.output.write("\n") }
            return line
        case .plain(let reader):
            session.output.write(session.prompt)
            try session.output.flush()
            return try reader.next { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func makeSource(_ session: DebugSession) throws -> Source {
        guard isatty(STDOUT_FILENO) == 1, Environment.text("TERM") != "dumb" else { return .plain(try LineReader("-")) }
        let editor = try? LineEditor(historyPath: LineEditor.defaultHistoryPath()) { [weak session] text in
            // Without a readable state there are no completions.
            let found = session.flatMap { try? DebugCompletion($0).completion(of: text) }
            return found ?? LineEditor.Completion(start: 0, candidates: [])
        }
        if let editor { return .editor(editor) }
        Diagnostics.remark("lines have no history and completion without libedit: apt install libedit2", by: "debug")
        return .plain(try LineReader("-"))
    }
}
