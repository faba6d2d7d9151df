import StrataModel

/// An entry of a layer. Its bytes are valid only as long as the function that returns it says.
package struct RunEntry {
    package var tree: TreeID
    package var key: UnsafeRawBufferPointer
    package var content: RunContent
}

/// The content of an entry.
package enum RunContent {
    case value(UnsafeRawBufferPointer)
    /// A value of more than ``RunFormat/maximumValueBytes``.
    case blob(BlobReference)
    /// The key is deleted: older layers do not show it.
    case mark
}

/// The place of a value in a blob file.
package struct BlobReference: Hashable, Sendable {
    package var file: UInt64
    /// In units of ``RunFormat/blobAlignment`` bytes.
    package var place: UInt32
    package var byteCount: UInt32
}

/// A key with its tree, in the order of a run.
package struct RunKey: Hashable, Comparable, Sendable {
    package var tree: TreeID
    package var bytes: [UInt8]

    package init(tree: TreeID, bytes: [UInt8]) {
        self.tree = tree
        self.bytes = bytes
    }

    init(_ entry: RunEntry) { self.init(tree: entry.tree, bytes: [UInt8](entry.key)) }

    package static func < (a: RunKey, b: RunKey) -> Bool { a.bytes.withUnsafeBytes { b.isAfter(a.tree, $0) } }

    func isAfter(_ tree: TreeID, _ key: UnsafeRawBufferPointer) -> Bool {
        if tree != self.tree { return tree < self.tree }
        return bytes.withUnsafeBytes { Bytes.compare(key, $0) < 0 }
    }

    func encode(to writer: inout ByteWriter) {
        writer.append(tree.rawValue)
        Self.encode(bytes, to: &writer)
    }

    /// Appends the length of a key, then its bytes.
    static func encode(_ key: [UInt8], to writer: inout ByteWriter) {
        writer.append(UInt16(key.count))
        writer.append(bytes: key)
    }

    init(decoding reader: inout ByteReader) throws {
        tree = TreeID(rawValue: try reader.read(UInt16.self, "the tree of a key"))
        bytes = try Self.readKey(&reader)
    }

    static func readKey(_ reader: inout ByteReader) throws -> [UInt8] {
        let count = try reader.read(UInt16.self, "the length of a key")
        guard count <= RunFormat.maximumKeyBytes else {
            throw reader.malformed(
                "the length of a key", expected: "at most \(RunFormat.maximumKeyBytes)", found: "\(count)")
        }
        return try reader.readBytes(count: UInt64(count), "a key")
    }
}
