import StrataModel
import StrataTree

extension ViewTree {
    static let prunedAssets = TreeID(rawValue: 20)
}

/// A tree without rows. Its folded offset is the horizon of the base to which the rows of assets were last pruned.
enum PrunedAssetsMaintainer: ViewMaintainer {
    static let tree = ViewTree.prunedAssets
    static let name = "pruned assets"
    static let isFolded = false

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        "\(name): " + key.map { hexadecimal($0) }.joined()
    }
}
