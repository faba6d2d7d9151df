import Foundation
import Glibc
import StrataConnections

/// A line editor with history and completion: libedit, which is loaded when a session at a terminal begins.
///
/// libedit reads the user's `.editrc`. It sets the terminal while a line is typed, and ``TerminalMode`` between lines.
final class LineEditor {
    /// The replacements for the characters from `start` up to the cursor.
    struct Completion {
        var start: Int
        var candidates: [String]
    }

    static let library = "libedit.so.2"
    private static let maximumHistory: CInt = 1_000
    // Callbacks of libedit have no context. They come on the thread of `read`, and one session exists at a time.
    private nonisolated(unsafe) static var reading: LineEditor?

    private typealias CText = UnsafeMutablePointer<CChar>
    private typealias CompletionCallback =
        @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> UnsafeMutablePointer<CText?>?

    private let readLine: @convention(c) (UnsafePointer<CChar>) -> CText?
    private let parse: @convention(c) (UnsafePointer<CChar>) -> CInt
    private let addHistory: @convention(c) (UnsafePointer<CChar>) -> CInt
    private let writeHistory: @convention(c) (UnsafePointer<CChar>) -> CInt
    private let typed: UnsafeMutablePointer<CText?>
    private let isCompleted: UnsafeMutablePointer<CInt>
    private let prepareTerminal: @convention(c) (CInt) -> Void
    private let restoreTerminal: @convention(c) () -> Void
    private let redraw: @convention(c) () -> Void
    private let completion: (_ beforeCursor: String) -> Completion
    private let historyPath: String?
    private var lastLine: String?

    /// - Parameter historyPath: the file of lines of earlier sessions; nil if lines are not saved.
    /// - Throws: ``StrataError`` `notFound` if the machine lacks libedit.
    init(
        library name: String = library, historyPath: String?, completion: @escaping (String) -> Completion
    ) throws {
        let library = try DynamicLibrary(name, debianPackage: "libedit2")
        readLine = try library.function("readline")
        parse = try library.function("rl_parse_and_bind")
        addHistory = try library.function("add_history")
        writeHistory = try library.function("write_history")
        typed = try library.function("rl_line_buffer")
        isCompleted = try library.function("rl_attempted_completion_over")
        prepareTerminal = try library.function("rl_prep_terminal")
        restoreTerminal = try library.function("rl_deprep_terminal")
        redraw = try library.function("rl_forced_update_display")
        (self.completion, self.historyPath) = (completion, historyPath)
        // Keys are bytes of UTF-8, whatever language the user has.
        setlocale(LC_CTYPE, "C.UTF-8")
        let initialize: @convention(c) () -> CInt = try library.function("rl_initialize")
        _ = initialize()
        try setCallbacks(library)
        try loadHistory(library)
    }

    private func setCallbacks(_ library: DynamicLibrary) throws {
        let complete: UnsafeMutablePointer<CompletionCallback?> =
            try library.function("rl_attempted_completion_function")
        complete.pointee = { _, start, end in LineEditor.reading?.matches(from: Int(start), to: Int(end)) }
        let wordBreaks: UnsafeMutablePointer<CText?> = try library.function("rl_completer_word_break_characters")
        wordBreaks.pointee = strdup(" \t\n")
        let begin: UnsafeMutablePointer<(@convention(c) () -> CInt)?> = try library.function("rl_pre_input_hook")
        begin.pointee = { LineEditor.reading?.prepare() ?? 0 }
        let addFunction: @convention(c) (UnsafePointer<CChar>, @convention(c) (CInt, CInt) -> CInt, CInt) -> CInt =
            try library.function("rl_add_defun")
        let control: CInt = 0x1A
        _ = addFunction("strata-suspend", { _, _ in LineEditor.reading?.suspend() ?? 0 }, control)
    }

    /// Delivers each key to the line before its prompt is shown, since libedit forgets its settings after each line.
    /// Ctrl-C, which interrupts only while a command runs, discards the line.
    private func prepare() -> CInt {
        prepareTerminal(0)
        _ = parse("setty -d -isig")
        // When the line ends, libedit would let the terminal edit lines, until it restores the settings.
        _ = parse("setty -x -icanon -echo -isig -iexten")
        return parse("bind ^C ed-start-over")
    }

    /// Stops the process, and shows the line again when it continues.
    private func suspend() -> CInt {
        restoreTerminal()
        TerminalMode.leave()
        raise(SIGTSTP)
        prepareTerminal(0)
        redraw()
        return 0
    }

    /// Returns the typed line; nil at Ctrl-D or the end of the input.
    func read(_ prompt: String) -> String? {
        Self.reading = self
        defer { Self.reading = nil }
        TerminalMode.enter()
        guard let text = readLine(prompt) else { return nil }
        defer { free(text) }
        let line = String(cString: text)
        remember(line)
        return line
    }

    // MARK: History, which is optional

    private func loadHistory(_ library: DynamicLibrary) throws {
        let limit: @convention(c) (CInt) -> Void = try library.function("stifle_history")
        limit(Self.maximumHistory)
        guard let historyPath else { return }
        let load: @convention(c) (UnsafePointer<CChar>) -> CInt = try library.function("read_history")
        _ = load(historyPath)
        let folder = (historyPath as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Adds a line to the history, unless it equals the last one, and saves it. Only the user can read the file.
    private func remember(_ line: String) {
        guard !line.allSatisfy(\.isWhitespace), line != lastLine else { return }
        lastLine = line
        _ = addHistory(line)
        if let historyPath { _ = writeHistory(historyPath) }
    }

    /// Returns the usual place for a program's state (https://specifications.freedesktop.org/basedir-spec); nil if
    /// there is none.
    static func defaultHistoryPath() -> String? {
        func folder(_ name: String) -> String? { Environment.text(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let base = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else { return nil }
        return base + "/strata/debug_history"
    }

    // MARK: Completion

    /// Returns the list that libedit frees; nil without candidates. `start` and `end` count Unicode scalars.
    private func matches(from start: Int, to end: Int) -> UnsafeMutablePointer<CText?>? {
        // Otherwise libedit would complete names of files.
        isCompleted.pointee = 1
        guard let typed = typed.pointee else { return nil }
        let line = String(String(cString: typed).unicodeScalars.prefix(end))
        let texts = Self.replacements(for: completion(line), of: line, from: start)
        guard !texts.isEmpty, let list = calloc(texts.count + 1, MemoryLayout<CText?>.stride) else { return nil }
        let matches = list.assumingMemoryBound(to: CText?.self)
        for (index, text) in texts.enumerated() { matches[index] = strdup(text) }
        return matches
    }

    /// Returns the common beginning of the candidates and the candidates themselves, as replacements for the scalars of
    /// a line from `start` on. That is in a quoted word after its last blank. A text that would control the terminal is
    /// left out.
    static func replacements(for completion: Completion, of line: String, from start: Int) -> [String] {
        let wordStart = line.prefix(completion.start).unicodeScalars.count
        let kept = String(line.unicodeScalars.prefix(start).dropFirst(wordStart))
        let candidates = completion.candidates.compactMap { candidate in
            candidate.hasPrefix(kept) && Printable.escaped(candidate) == candidate
                ? String(candidate.dropFirst(kept.count)) : nil
        }
        guard let first = candidates.first else { return [] }
        let common = candidates.dropFirst().reduce(first) { common, candidate in
            String(zip(common, candidate).prefix { $0 == $1 }.map { $0.0 })
        }
        return [common] + candidates
    }
}
