import StrataModel
import StrataTree

/// The row of an asset that commits name.
package struct AssetRow: Sendable, Hashable {
    package var size: UInt64
    /// The last event that named it.
    package var version: Version

    init(size: UInt64, version: Version) {
        self.size = size
        self.version = version
    }

    init(decoding row: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(row)
        version = try reader.readPackedVersion("the event that named an asset")
        size = try reader.readVarint("an asset's size")
        try reader.expectEnd("an asset's row")
    }

    fileprivate func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 18)
        writer.append(version.packed)
        writer.appendVarint(size)
        return writer.bytes
    }

    fileprivate static func key(_ hash: ContentHash) -> [UInt8] {
        var writer = ByteWriter(reserving: FieldValue.Asset.hashBytes)
        writer.append(hash.first)
        writer.append(hash.second)
        return writer.bytes
    }
}

extension TreeReading {
    /// Returns the row of an asset; nil if no commit names it.
    package func assetRow(_ hash: ContentHash) throws -> AssetRow? {
        try get(ViewTree.assets, key: AssetRow.key(hash)) { try AssetRow(decoding: $0) }
    }
}

extension Snapshot {
    /// Calls `body` with each asset that a commit names, until it returns false.
    package func forEachAsset(_ body: (ContentHash, AssetRow) throws -> Bool) throws {
        try scan(ViewTree.assets) { key, row in
            var reader = ByteReader(key)
            let first = try reader.read(UInt128.self, "an asset's hash")
            let second = try reader.read(UInt128.self, "an asset's hash")
            return try body(ContentHash(first: first, second: second), try AssetRow(decoding: row))
        }
    }
}

/// The rows that events of records add to the tree of assets. They stay when the records go.
struct AssetRows {
    /// The maximum number of waiting rows, which limits their memory.
    private static let maximumCount = 50_000

    private var named: [ContentHash: AssetRow] = [:]

    var isFull: Bool { named.count >= Self.maximumCount }

    /// - Parameter version: the version of the event whose body contains the bytes.
    mutating func collect(_ table: FieldTable, _ bytes: UnsafeRawBufferPointer, _ version: Version) throws {
        for index in 0..<table.count where try table.kind(at: index)?.element == .asset {
            switch try FieldValue(decoding: bytes, in: try table.range(at: index)) {
            case .asset(let asset): note(asset, version)
            case .list(let list):
                for case .asset(let asset) in list.elements { note(asset, version) }
            default: break
            }
        }
    }

    private mutating func note(_ asset: FieldValue.Asset, _ version: Version) {
        if let known = named[asset.hash], known.version > version { return }
        named[asset.hash] = AssetRow(size: asset.size, version: version)
    }

    /// Writes the rows. Events come in the order of their records, so the tree may have a newer row than the one to
    /// write.
    mutating func apply(to fork: Fork) throws {
        if named.isEmpty { return }
        for (hash, row) in named {
            if let known = try fork.assetRow(hash), known.version > row.version { continue }
            try fork.put(ViewTree.assets, key: AssetRow.key(hash), row: row.encoded())
        }
        named.removeAll()
    }
}
