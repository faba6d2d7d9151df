import Foundation

/// A page of documentation whose Swift blocks stand, line for line, in a test.
package struct GuidePage {
    /// The lines of each Swift block, without their indentation and without empty lines.
    package let blocks: [[String]]

    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    package init(_ path: String) throws {
        try self.init(text: String(contentsOfFile: "\(Self.root)/\(path)", encoding: .utf8))
    }

    package init(text: String) {
        var blocks: [[String]] = []
        var block: [String]?
        for line in text.components(separatedBy: "\n") {
            if line == "```swift" {
                block = []
            } else if line == "```" {
                if let block { blocks.append(block) }
                block = nil
            } else if let trimmed = Self.trimmed(line) {
                block?.append(trimmed)
            }
        }
        self.blocks = blocks
    }

    /// Returns the blocks that do not stand in `source` as consecutive lines. Imports at the beginning of a block may
    /// stand anywhere in it.
    package func blocksMissing(fromSource source: String) -> [[String]] {
        let lines = source.components(separatedBy: "\n").compactMap(Self.trimmed)
        func stands(_ block: some Collection<String>) -> Bool {
            guard let last = lines.indices.last, block.count <= lines.count else { return false }
            return (0...last - block.count + 1).contains { lines[$0..<$0 + block.count].elementsEqual(block) }
        }
        return blocks.filter { block in
            let imports = block.prefix { $0.hasPrefix("import ") }
            return !imports.allSatisfy(lines.contains) || !stands(block.dropFirst(imports.count))
        }
    }

    private static func trimmed(_ line: String) -> String? {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : trimmed
    }
}
