import StrataModel
import StrataTree

extension ViewTree {
    static let prunedAssets = TreeID(rawValue: 20)
}

/// A tree without rows: it is folded to the horizon of the base to which the rows of assets have been brought.
enum PrunedAssetsMaintainer: ViewMaintainer {
    static let tree = ViewTree.prunedAssets
    static let name = "pruned assets"
    static let isFolded = false

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        "\(name): " + key.map { hexadecimal($0) }.joined()
    }
}
