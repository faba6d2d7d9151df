import Glibc
import StrataModel

/// The source of lines for a debugger session.
final class DebugInput {
    struct Line {
        var text: String
        /// The place for error messages: `script, line 3`.
        var place: String
    }

    private enum Source {
        case texts([String], next: Int)
        case file(LineReader, name: String)
        case terminal(DebugTerminal)
    }

    /// True if a user types the lines. Errors are then reported and the session continues.
    let isInteractive: Bool
    private var sources: [Source]
    /// The lines already given, for a session that must restart.
    private var given: [Line] = []
    private var givenAgain = 0

    /// - Throws: ``StrataError`` for a script that cannot be read.
    init(_ arguments: Arguments) throws {
        sources = try arguments.all(DebugCommand.script).map { .file(try LineReader($0), name: $0) }
        let texts = arguments.all(DebugCommand.command)
        if !texts.isEmpty { sources.append(.texts(texts, next: 0)) }
        isInteractive = sources.isEmpty && isatty(STDIN_FILENO) == 1
        guard sources.isEmpty else { return }
        sources = [isInteractive ? .terminal(DebugTerminal()) : .file(try LineReader("-"), name: "standard input")]
    }

    /// Restarts with the first line.
    func startAgain() { givenAgain = 0 }

    /// Returns nil after the last line.
    func next(_ session: DebugSession) throws -> Line? {
        if givenAgain < given.count {
            givenAgain += 1
            // An interrupt during the first run does not apply to this one.
            StopRequest.forget()
            return given[givenAgain - 1]
        }
        while let source = sources.first {
            if let line = try next(from: source, session) {
                given.append(line)
                givenAgain = given.count
                return line
            }
            sources.removeFirst()
        }
        return nil
    }

    private func next(from source: Source, _ session: DebugSession) throws -> Line? {
        switch source {
        case .texts(let texts, let next):
            guard next < texts.count else { return nil }
            sources[0] = .texts(texts, next: next + 1)
            return Line(text: texts[next], place: "-e '\(texts[next])'")
        case .file(let reader, let name):
            let text = try reader.next { String(validating: $0, as: UTF8.self) }
            guard let text else { return nil }
            guard let text else {
                throw StrataError(
                    .invalidArgument, "The script is not text.",
                    .init(path: name, expected: "valid UTF-8", line: reader.number))
            }
            return Line(text: text, place: "\(name), line \(reader.number)")
        case .terminal(let terminal): return try terminal.next(session).map { Line(text: $0, place: "") }
        }
    }
}
