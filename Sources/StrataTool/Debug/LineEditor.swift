import Glibc
import StrataModel
import StrataSystem

/// Reads a line at a terminal with the usual keys of shells: arrows, Ctrl-A, E, K, U, W and R, history and completion.
final class LineEditor {
    /// The replacements for the characters from `start` up to the cursor.
    struct Completion {
        var start: Int
        var candidates: [String]
    }

    enum Answer: Equatable {
        case line(String)
        /// Ctrl-C: the line is discarded.
        case interrupted
        /// Ctrl-D, or the end of the input.
        case ended
    }

    private static let maximumShown = 60

    var history: LineHistory
    private let completion: (_ beforeCursor: String) -> Completion
    private let keys: LineKeyReader
    private let show: (String) -> Void
    private var line = EditedLine()
    /// The index of the shown line in the history; the history's count for the line being typed.
    private var place = 0
    private var typed = EditedLine()
    private var prompt = ""

    init(
        history: LineHistory, keys: LineKeyReader, show: @escaping (String) -> Void,
        completion: @escaping (String) -> Completion
    ) {
        (self.history, self.keys, self.show, self.completion) = (history, keys, show, completion)
    }

    func read(_ prompt: String) throws -> Answer {
        self.prompt = prompt
        (line, typed, place) = (EditedLine(), EditedLine(), history.lines.count)
        draw()
        while let key = try keys.next() {
            if let answer = try press(key) { return answer }
        }
        show("\r\n")
        return .ended
    }

    private func press(_ key: LineKey) throws -> Answer? {
        switch key {
        case .enter: return accept()
        case .interrupt:
            show("^C\r\n")
            return .interrupted
        case .endOfInput:
            if line.text.isEmpty {
                show("\r\n")
                return .ended
            }
            _ = line.press(.delete)
        case .up: turn(to: place - 1)
        case .down: turn(to: place + 1)
        case .tab: complete()
        case .search: if try search() { return accept() }
        case .redraw: show("\u{1B}[H\u{1B}[2J")
        case .suspend: suspend()
        default: _ = line.press(key)
        }
        draw()
        return nil
    }

    private func accept() -> Answer {
        _ = line.press(.end)
        draw()
        show("\r\n")
        let text = line.string
        history.add(text)
        return .line(text)
    }

    private func suspend() {
        TerminalMode.leave()
        raise(SIGTSTP)
        _ = TerminalMode.enterTyping()
    }

    // MARK: Drawing

    /// Draws the part of a long line around the cursor.
    private func draw() { draw(prompt, line) }

    private func draw(_ prompt: String, _ line: EditedLine) {
        let room = max(8, Terminal.currentColumns - DisplayWidth.width(of: prompt) - 1)
        var start = line.cursor
        var width = 0
        while start > 0, width + DisplayWidth.width(of: line.text[start - 1]) <= room {
            start -= 1
            width += DisplayWidth.width(of: line.text[start])
        }
        let column = DisplayWidth.width(of: prompt) + width
        var end = line.cursor
        while end < line.text.count, width + DisplayWidth.width(of: line.text[end]) <= room {
            width += DisplayWidth.width(of: line.text[end])
            end += 1
        }
        let shown = String(line.text[start..<end])
        show("\r\(prompt)\(shown)\u{1B}[K\r" + (column > 0 ? "\u{1B}[\(column)C" : ""))
    }

    // MARK: History

    private func turn(to wanted: Int) {
        guard (0...history.lines.count).contains(wanted) else { return }
        if place == history.lines.count { typed = line }
        place = wanted
        line = place == history.lines.count ? typed : EditedLine(history.lines[place])
    }

    /// Ctrl-R: finds the newest line that contains the typed text. Pressing it again finds older lines.
    ///
    /// Returns true if the found line is to be executed immediately.
    private func search() throws -> Bool {
        var wanted = EditedLine()
        var found = history.lines.count
        func look(from first: Int) {
            let text = wanted.string
            guard !text.isEmpty, first >= 0 else { return }
            let end = min(first + 1, history.lines.count)
            if let place = history.lines[..<end].lastIndex(where: { $0.contains(text) }) { found = place }
        }
        let before = line
        while true {
            line = found < history.lines.count ? EditedLine(history.lines[found]) : before
            draw("(search '\(wanted.string)') ", line)
            guard let key = try keys.next() else { return false }
            switch key {
            case .search: look(from: found - 1)
            case .scalar, .backspace:
                _ = wanted.press(key)
                look(from: key == .backspace ? history.lines.count - 1 : min(found, history.lines.count - 1))
            case .enter: return true
            case .interrupt, .escape:
                line = before
                return false
            default:
                _ = line.press(key)
                return false
            }
        }
    }

    // MARK: Completion

    private func complete() {
        let found = completion(line.beforeCursor)
        guard let first = found.candidates.first else { return }
        if found.candidates.count == 1 { return line.replace(from: found.start, with: first + " ") }
        let common = found.candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        if common.count > line.cursor - found.start { return line.replace(from: found.start, with: common) }
        var texts = found.candidates.prefix(Self.maximumShown).map { Printable.escaped($0) }
        if found.candidates.count > Self.maximumShown { texts.append("…") }
        show("\r\n" + texts.joined(separator: "  ") + "\r\n")
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map { $0.0 })
    }
}
