import StrataLog
import StrataModel
import StrataSystem

/// The base from which new copies begin: the content of an entry that marks it (docs/replication-internals.md §12).
package struct BaseMark: Sendable, Equatable {
    /// The last entry that the base replaces, which is valid.
    package let number: UInt64
    let entry: Identifier
    /// The end of the log after that entry.
    package let horizon: Position
    /// The time of the commit at the horizon.
    let time: Int64
    /// The base's own id.
    let base: Identifier
    /// The length and the hash of the base's file.
    package let byteCount: UInt64
    let hash: [UInt8]
    /// The identity and the options that the store's first entry stated.
    let identity: StoreIdentity
    let terms: String

    static func append(_ mark: BaseMark, to writer: inout ByteWriter) {
        writer.append(mark.number)
        writer.append(mark.entry)
        writer.append(mark.horizon.offset)
        writer.append(mark.horizon.chain)
        writer.append(mark.time)
        writer.append(mark.base)
        writer.append(mark.byteCount)
        writer.append(bytes: mark.hash)
        SequencedEntry.append(mark.identity, terms: mark.terms, to: &writer)
    }

    static func read(_ store: Identifier, _ reader: inout ByteReader) throws -> BaseMark {
        let number = try reader.read(UInt64.self, "the number of the last entry")
        let entry = try reader.readIdentifier("the last entry's id")
        let horizon = Position(
            offset: try reader.read(UInt64.self, "the horizon"),
            chain: try reader.read(UInt32.self, "the horizon's chain value"))
        guard (1...UInt64(Int64.max)).contains(number), (1...Version.maximumOffset).contains(horizon.offset) else {
            throw reader.malformed(
                "the mark of a base", expected: "a valid entry and offset", found: "entry \(number), \(horizon)")
        }
        let time = try reader.read(Int64.self, "the horizon's time")
        let base = try reader.readIdentifier("the base's id")
        let byteCount = try reader.read(UInt64.self, "the base's length")
        let hash = try (0..<ContentHasher.byteCount).map { _ in try reader.read(UInt8.self, "the base's hash") }
        let (identity, terms) = try SequencedEntry.identity(store, &reader)
        return BaseMark(
            number: number, entry: entry, horizon: horizon, time: time, base: base, byteCount: byteCount, hash: hash,
            identity: identity, terms: terms)
    }
}
