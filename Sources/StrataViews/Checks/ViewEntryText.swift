import StrataModel
import StrataTree

/// Says in words which entry of the trees a key is: `record milk of zone Notes`.
public struct ViewEntryText {
    private let words: EntryWords

    /// - Parameter names: the names that ordinals stand for.
    public init(_ names: any NameResolver) { words = EntryWords(names: names) }

    /// Returns the words for a key; its bytes if they are no key of the tree.
    public func text(_ id: TreeID, _ key: [UInt8]) -> String {
        let text = try? key.withUnsafeBytes { try ViewTree.maintainer(of: id)?.describe($0, words) }
        return text.flatMap { $0 } ?? "\(ViewTree.name(of: id)): \(key.map { hexadecimal($0) }.joined())"
    }
}
