import StrataModel
import StrataTree

/// Rows by the bytes of their keys.
extension TreeReading {
    /// Calls `body` with the row of a key, which is valid only inside it; returns nil if there is no such row.
    func get<Result>(
        _ tree: TreeID, key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try key.withUnsafeBytes { try get(tree, $0, body) }
    }

    func hasRow(_ tree: TreeID, key: [UInt8]) throws -> Bool { try get(tree, key: key) { _ in } != nil }

    /// Returns the event that the row of a key holds; nil if there is no such row.
    func event<Body: EventBody>(in tree: TreeID, key: [UInt8]) throws -> Body? {
        try get(tree, key: key) { try RowLayout.event(in: $0) }
    }

    /// Returns the version with which the row of a key begins; nil if there is no such row.
    func version(
        in tree: TreeID, key: [UInt8], _ what: StaticString = "a row's version"
    ) throws -> Version? {
        try get(tree, key: key) { try RowLayout.version(of: $0, what) }
    }
}

extension Fork {
    /// Writes the row of a key; it is empty in a tree that has only keys.
    func put(_ tree: TreeID, key: [UInt8], row: [UInt8] = []) throws {
        try key.withUnsafeBytes { key in
            try row.withUnsafeBytes { try put(tree, key, $0) }
        }
    }

    /// Removes the row of a key; returns false if there is none.
    @discardableResult
    func delete(_ tree: TreeID, key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete(tree, $0) } }
}
