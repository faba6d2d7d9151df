/// Finds modules that have more lines than the checked-in list allows, or far fewer.
///
/// A commit that adds lines to a module raises its number, and says what the lines buy. ``slack`` lines may go before
/// the number must follow. `STRATA_UPDATE_GOLDEN=1` makes ``StyleTests`` write the list again.
struct ModuleLinesRule: StyleRule {
    static let list = "Tests/StyleTests/ModuleLines.txt"
    static let slack = 100

    func findings(in files: [SourceFile]) -> [Finding] {
        let found = Self.lines(in: files)
        guard let list = files.first(where: { $0.path == Self.list }) else {
            return found.prefix(1).map { Finding(path: "Sources/\($0.module)", line: 1, message: "no \(Self.list)") }
        }
        var counts = Dictionary(uniqueKeysWithValues: found.map { ($0.module, $0.count) })
        var findings: [Finding] = []
        for (line, text) in list.lines.enumerated() where !text.isEmpty {
            let parts = text.split(separator: " ")
            guard parts.count == 2, let limit = Int(parts[0]), let count = counts.removeValue(forKey: String(parts[1]))
            else {
                findings.append(list.finding(line, "'\(text)' is no number of lines and module"))
                continue
            }
            if count > limit {
                findings.append(
                    list.finding(line, "\(parts[1]) has \(count) lines; shorten it, or say in the commit what they buy")
                )
            } else if count < limit - Self.slack {
                findings.append(list.finding(line, "\(parts[1]) has only \(count) lines; lower the number"))
            }
        }
        return findings + counts.keys.sorted().map { list.finding(0, "\($0) is missing") }
    }

    /// Returns the lines of Swift in each module, in the order of the names.
    static func lines(in files: [SourceFile]) -> [(module: String, count: Int)] {
        var counts: [String: Int] = [:]
        // A file ends with the end of its last line.
        for file in files where file.isSwift {
            if let module = file.module { counts[module, default: 0] += file.lines.count - 1 }
        }
        return counts.sorted { $0.key < $1.key }.map { (module: $0.key, count: $0.value) }
    }
}
