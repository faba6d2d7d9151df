/// Finds comments of the sources that do not read as plain English.
///
/// A documentation comment begins with what the thing is or does, not with one of ``openings``; no comment uses one of
/// ``phrases``.
struct PlainWordsRule: FileRule {
    static let openings = ["What", "Whether", "Who", "Of", "So", "Those", "How"]
    static let phrases = [
        "whoever", "somebody", "nobody", "let go", "in front of", "is told", "are told", "so many", "goes on",
        "made again", "come to be", "comes to", "anew",
    ]

    func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, file.path.hasPrefix("Sources/") else { return [] }
        return file.lines.enumerated().compactMap { line, text in
            Self.finding(in: text).map { file.finding(line, "'\($0)' in a comment; say it plainly") }
        }
    }

    private static func finding(in line: some StringProtocol) -> String? {
        let text = line.drop { $0 == " " }
        let comment = text.hasPrefix("///") ? text.dropFirst(3) : text.hasPrefix("//") ? text.dropFirst(2) : nil
        guard let comment else { return nil }
        let words = comment.drop { $0 == " " }
        if text.hasPrefix("///"), let first = openings.first(where: { words.hasPrefix($0 + " ") }) { return first }
        return phrases.first { comment.lowercased().containsWord($0) }
    }
}
