import StrataModel
import StrataTree

/// Describes the entry of a key in words: `record milk of zone Notes`.
package struct ViewEntryText {
    private let words: EntryWords

    /// - Parameter names: resolves ordinals to names.
    package init(_ names: any NameResolver) { words = EntryWords(names: names) }

    /// Returns the description of a key, or its bytes if it is not a valid key of the tree.
    package func text(_ id: TreeID, _ key: [UInt8]) -> String {
        let text = try? key.withUnsafeBytes { try ViewTree.maintainer(of: id)?.describe($0, words) }
        return text.flatMap { $0 } ?? "\(ViewTree.name(of: id)): \(key.map { hexadecimal($0) }.joined())"
    }
}
