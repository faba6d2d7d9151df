/// Tabs and blanks at the end of a line, in what people edit.
struct BlanksRule: FileRule {
    static let endings = [".swift", ".c", ".h", ".md", ".py", ".sh", ".json", ".yml", ".modulemap", ".swift-format"]

    func findings(in file: SourceFile) -> [Finding] {
        let isScript = file.path.hasPrefix("tools/") || file.path.hasPrefix(".ci/")
        guard isScript || Self.endings.contains(where: file.path.hasSuffix) else { return [] }
        return file.lines.indices.flatMap { line in
            var findings: [Finding] = []
            let bytes = file.lines[line].utf8
            if bytes.contains(UInt8(ascii: "\t")) {
                findings.append(file.finding(line, "a tab; indent with four blanks"))
            }
            if let last = bytes.last, last == .space || last == UInt8(ascii: "\r") {
                findings.append(file.finding(line, "a blank at the end of the line; remove it"))
            }
            return findings
        }
    }
}

/// Notes to oneself.
struct LeftoversRule: FileRule {
    // Each in two parts, so that this file has none of them.
    static let words = [["TO", "DO"], ["FIX", "ME"], ["X", "XX"], ["HA", "CK"]].map { $0.joined() }

    func findings(in file: SourceFile) -> [Finding] {
        file.lines.indices.flatMap { line in
            Self.words.filter { file.lines[line].containsWord($0) }.map {
                file.finding(line, "a leftover \($0); finish it, or say in words what holds today")
            }
        }
    }
}

/// The paths of one machine and the words of one workplace mean nothing to whoever clones the repository.
struct ForeignWordsRule: FileRule {
    static let words = [
        ["/wo", "rk/"], ["/fa", "rm/"], ["/ro", "ot/"], ["farm-", "bench"], ["farm-", "studio"], ["sub", "agent"],
    ].map { $0.joined() }

    func findings(in file: SourceFile) -> [Finding] {
        file.lines.indices.flatMap { line in
            Self.words.filter { file.lines[line].contains($0) }.map {
                file.finding(line, "`\($0)` belongs to one machine; give a path relative to the repository, or none")
            }
        }
    }
}

extension StringProtocol {
    /// Whether `word` occurs and is not a part of a longer one.
    func containsWord(_ word: String) -> Bool { !positions(ofWord: word).isEmpty }

    /// Where `word` begins, in bytes; what it begins or ends with decides whether a letter may touch it there.
    func positions(ofWord word: String) -> [Int] {
        let bytes = Array(utf8)
        let word = Array(word.utf8)
        guard bytes.count >= word.count, let first = word.first, let last = word.last else { return [] }
        return (0...bytes.count - word.count).filter { start in
            let end = start + word.count
            guard bytes[start] == first, bytes[start..<end].elementsEqual(word) else { return false }
            if first.isInIdentifier, start > 0, bytes[start - 1].isInIdentifier { return false }
            return !(last.isInIdentifier && end < bytes.count && bytes[end].isInIdentifier)
        }
    }
}
