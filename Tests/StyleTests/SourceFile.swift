/// One text file of the repository, as the rules see it.
struct SourceFile: Sendable {
    /// From the repository's root, with slashes.
    let path: String
    let text: String
    let lines: [Substring]
    /// The lines without comments and the content of strings; empty where it is not Swift.
    let code: [String]
    let tokens: [Token]
    private let commentedLines: Set<Int>

    init(path: String, text: String) {
        self.path = path
        self.text = text
        // A view of bytes, because "\r\n" is one Character.
        lines = text.utf8.split(separator: .newline, omittingEmptySubsequences: false).map(Substring.init)
        guard path.hasSuffix(".swift") else {
            (code, tokens, commentedLines) = ([], [], [])
            return
        }
        let mask = CodeMask(text)
        code = mask.code.split(separator: .newline, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        tokens = Token.all(in: mask.code)
        commentedLines = mask.commentedLines
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var name: Substring { path.split(separator: "/").last ?? "" }

    /// The target, for a file of the product.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// Whether programs that embed Strata run it.
    var isLibrary: Bool { isSwift && module != nil && module != "strata" }

    /// Whether the line, from 0, has a comment.
    func hasComment(_ line: Int) -> Bool { commentedLines.contains(line) }

    /// Whether the line, from 0, has a comment that gives a reason: one that is not documentation.
    func hasReason(_ line: Int) -> Bool {
        guard hasComment(line) else { return false }
        return !lines[line].drop { $0 == " " }.hasPrefix("///")
    }
}
