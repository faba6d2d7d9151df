import Glibc
import StrataModel

/// Where the lines of a debugger's session come from.
final class DebugInput {
    struct Line {
        var text: String
        /// For the mistakes in it: `script, line 3`.
        var place: String
    }

    private enum Source {
        case texts([String], next: Int)
        case file(LineReader, name: String)
        case terminal(DebugTerminal)
    }

    /// Whether somebody types the lines, who is told of a mistake and goes on.
    let isInteractive: Bool
    private var sources: [Source]
    /// What has been given, for a session that has to begin again.
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

    /// Gives the lines once more from the first.
    func startAgain() { givenAgain = 0 }

    /// Nil behind the last line.
    func next(_ session: DebugSession) throws -> Line? {
        if givenAgain < given.count {
            givenAgain += 1
            // What came while it was done the first time was not meant for it now.
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
                    .invalidArgument, "The script is no text.",
                    .init(path: name, expected: "valid UTF-8", line: reader.number))
            }
            return Line(text: text, place: "\(name), line \(reader.number)")
        case .terminal(let terminal): return try terminal.next(session).map { Line(text: $0, place: "") }
        }
    }
}
