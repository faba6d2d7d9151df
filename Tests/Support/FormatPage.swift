import StrataModel
import StrataSystem

/// docs/format.md, or another page of formats, taken apart into the tables that tests compare with the code.
package struct FormatPage: Sendable {
    private let lines: [Substring]

    package init(named name: String = "format.md") throws {
        // The path of this file. As a default argument it would be the caller's.
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let path = root.joined(separator: "/") + "/docs/\(name)"
        let bytes = try RealFileSystem().readAll(path, atMost: 1 << 20)
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines of the section with that number, without its title.
    package func section(_ number: Int) -> [Substring] {
        let body = lines.drop { !$0.hasPrefix("## \(number). ") }.dropFirst()
        return Array(body.prefix { !$0.hasPrefix("## ") })
    }

    /// The cells below the heading of the `index`-th table of a section, row by row.
    package func table(_ index: Int, ofSection number: Int) -> [[String]] {
        let blocks = section(number).split { !$0.hasPrefix("|") }
        return blocks.indices.contains(index) ? blocks[index].dropFirst(2).map(Self.cells) : []
    }

    /// The cells of every row of every table, headings and rulers included.
    package var rows: [[String]] { lines.filter { $0.hasPrefix("|") }.map(Self.cells) }

    private static func cells(of row: Substring) -> [String] { row.split(separator: "|").map { $0.trimmingSpaces() } }
}

extension Substring {
    fileprivate func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
