import StrataModel
import StrataTree

extension ViewTree {
    package static let assets = TreeID(rawValue: 19)
}

/// The assets that commits name: hash → size and version of the last event that named the asset (``AssetRow``).
enum AssetsMaintainer: ViewMaintainer {
    static let tree = ViewTree.assets
    static let name = "assets"

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        "asset " + key.map { hexadecimal($0) }.joined()
    }
}
