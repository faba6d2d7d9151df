import StrataModel
import StrataTree

extension ViewTree {
    package static let statedRules = TreeID(rawValue: 30)
}

/// The rules under which requests were judged: offset from which they were in force → event that stated them.
enum StatedRulesMaintainer: EventRowMaintainer {
    typealias Body = RulesStatedEvent

    static let tree = ViewTree.statedRules
    static let name = "stated rules"

    /// The key of an event that a base states.
    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.original?.offset ?? 0) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        var words = ByteWriter(reserving: 64)
        var event = event
        event.original = nil
        try event.encode(into: &words)
        return words.bytes.withUnsafeBytes { DigestHash.hash(seed(), $0) }
    }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        let version = event.original ?? place.version
        try put(event, body, under: ViewKeys.numbers(version.offset), at: place, in: fold)
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "rules stated at \(try reader.readNumber())"
    }

    /// Rules are in the digest of the state alone: stores with the same content may have other rules.
    static func addDigests(of row: UnsafeRawBufferPointer, to sum: inout Digests) throws {
        var reader = ByteReader(row)
        _ = try reader.readPackedVersion("a row's version")
        sum += Digests(state: try reader.readDigests().state, content: 0)
    }
}

extension TreeReading {
    /// Returns the rules in force for the commit at an offset, with the version that stated them; nil if none were
    /// stated at or before it.
    package func statedRules(at offset: UInt64 = .max) throws -> RulesStatedEvent? {
        let cursor = cursor(ViewTree.statedRules)
        let end = ViewKeys.numbers(offset == .max ? offset : offset + 1)
        guard try end.withUnsafeBytes({ try cursor.seekBefore($0) }) else { return nil }
        return try cursor.withEntry { _, row in
            var found: RulesStatedEvent = try RowLayout.event(in: row)
            found.original = try RowLayout.version(of: row)
            return found
        }
    }
}
