import StrataModel

/// A piece as a state names it.
package struct PieceDescriptor: Equatable, Sendable {
    /// The number of the file.
    package var number: UInt64
    package var byteCount: Int
    /// The number of entries, marks included.
    package var entries: UInt64
    package var marks: UInt64
    /// The checksum of the footer.
    package var checksum: UInt32
    /// Nil if the piece has no entries.
    package var first: RunKey?
    package var last: RunKey?

    package func encode(to writer: inout ByteWriter) {
        writer.append(number)
        writer.append(UInt64(byteCount))
        writer.append(entries)
        writer.append(marks)
        writer.append(checksum)
        let none = RunKey(tree: TreeID(rawValue: 0), bytes: [])
        (first ?? none).encode(to: &writer)
        (last ?? none).encode(to: &writer)
    }

    package init(decoding reader: inout ByteReader) throws {
        number = try reader.read(UInt64.self, "the number of a piece")
        byteCount = try RunFormat.readFileBytes(&reader, "the bytes of a piece")
        entries = try reader.read(UInt64.self, "the entries of a piece")
        marks = try reader.read(UInt64.self, "the marks of a piece")
        checksum = try reader.read(UInt32.self, "the checksum of a footer")
        let keys = (try RunKey(decoding: &reader), try RunKey(decoding: &reader))
        (first, last) = entries == 0 ? (nil, nil) : keys
    }

    init(
        number: UInt64, byteCount: Int, entries: UInt64, marks: UInt64, checksum: UInt32, first: RunKey?,
        last: RunKey?
    ) {
        (self.number, self.byteCount, self.entries, self.marks) = (number, byteCount, entries, marks)
        (self.checksum, self.first, self.last) = (checksum, first, last)
    }
}

/// The files that a run belongs to: their headers have this, and a file of another store or form is refused.
package struct RunOwner: Equatable, Sendable {
    package var store: Identifier
    /// The form of the views.
    package var form: UInt16

    package init(store: Identifier, form: UInt16) {
        self.store = store
        self.form = form
    }

    /// The hash of keys in the pieces of this store.
    package var keyHash: KeyHash { KeyHash(seed: store.high) }
}
