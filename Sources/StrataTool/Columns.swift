/// Lines whose words stand below each other.
enum Columns {
    /// Longer words push what follows to the right.
    private static let widest = 40

    /// - Parameter rows: safe to show, and all of the same length.
    static func write(_ rows: [[String]], indentation: Int = 0, to output: Output) throws {
        guard let columnCount = rows.first?.count else { return }
        let widths = (0..<columnCount).map { column in min(rows.map { $0[column].count }.max() ?? 0, widest) }
        for row in rows {
            output.write(String(repeating: " ", count: indentation))
            let lastIndex = row.lastIndex { !$0.isEmpty } ?? 0
            for (index, text) in row[...lastIndex].enumerated() {
                output.write(text)
                if index < lastIndex {
                    output.write(String(repeating: " ", count: max(0, widths[index] - text.count) + 2))
                }
            }
            try output.endLine()
        }
    }
}
