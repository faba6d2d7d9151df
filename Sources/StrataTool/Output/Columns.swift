/// Writes lines in aligned columns.
enum Columns {
    /// Longer words push the rest of the line to the right.
    private static let widest = 40

    /// Returns the columns that fit a terminal's width, with two spaces between them.
    ///
    /// - Parameters:
    ///   - widths: the widths of all columns.
    ///   - columns: the width of the terminal; nil for no limit.
    ///   - leavingOut: the columns that may be dropped, least important first.
    static func fitting(_ widths: [Int], in columns: Int?, leavingOut: [Int]) -> [Int] {
        var fitting = Array(widths.indices)
        guard let columns else { return fitting }
        for column in leavingOut {
            if fitting.reduce(-2, { $0 + widths[$1] + 2 }) <= columns { break }
            fitting.removeAll { $0 == column }
        }
        return fitting
    }

    /// Writes what something is, with its name, and below it a line for each part.
    static func write(_ noun: String, _ name: String, _ parts: [(String, String)], to output: Output) throws {
        output.write(noun + " ")
        try output.writeLine(Printable.escaped(name), .heading)
        try write(parts.map { [$0.0, $0.1] }, indentation: 4, to: output)
    }

    /// - Parameter rows: texts that are safe to print, in rows of equal length.
    static func write(_ rows: [[String]], indentation: Int = 0, to output: Output) throws {
        guard let columnCount = rows.first?.count else { return }
        let widths = (0..<columnCount).map { column in
            min(rows.map { DisplayWidth.width(of: $0[column]) }.max() ?? 0, widest)
        }
        for row in rows {
            output.write(String(repeating: " ", count: indentation))
            let lastIndex = row.lastIndex { !$0.isEmpty } ?? 0
            for (index, text) in row[...lastIndex].enumerated() {
                output.write(index < lastIndex ? text.padded(to: widths[index] + 2, separation: 2) : text)
            }
            try output.endLine()
        }
    }
}
