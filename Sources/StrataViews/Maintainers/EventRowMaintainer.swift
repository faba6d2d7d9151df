import StrataModel
import StrataTree

/// A maintainer of a tree whose rows hold the bodies of events, each after its version and its contributions to the
/// digests (docs/format-keys.md §3).
protocol EventRowMaintainer: ViewMaintainer {
    associatedtype Body: StatedEvent

    static func key(of event: Body) -> [UInt8]

    /// Returns the event's contribution to the content digest, computed from names because ordinals differ between
    /// stores; nil for a tree that is in no digest. Throws if an ordinal of the event has no name.
    static func content(of event: Body, in fold: Fold) throws -> UInt128?
}

extension EventRowMaintainer {
    static var kinds: [EventKind] { [Body.kind] }
    static var hasDigests: Bool { true }
    static var isStated: Bool { true }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        try put(try Body(decoding: body), body, at: place, in: fold)
    }

    /// Writes the row of an event.
    ///
    /// - Parameter key: the row's key; nil if it is not known yet.
    static func put(
        _ event: Body, _ body: UnsafeRawBufferPointer, under key: [UInt8]? = nil, at place: EventPlace, in fold: Fold
    ) throws {
        let content = try content(of: event, in: fold)
        let version = event.original ?? place.version
        let state = content.map { DigestHash.hash($0, words: [version.packed]) }
        var row = ByteWriter(reserving: RowLayout.body + body.count)
        row.append(version.packed)
        row.append(state ?? 0)
        row.append(content ?? 0)
        if event.original == nil {
            row.append(bytes: body)
        } else {
            // The row does not show whether it comes from a base.
            var event = event
            event.original = nil
            try event.encode(into: &row)
        }
        try fold.fork.put(tree, key: key ?? self.key(of: event), row: row.bytes)
    }

    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        let version = try RowLayout.version(of: entry.row)
        var event = try commit.event(in: entry.row, at: RowLayout.body, as: Body.self)
        event.original = version
        try commit.append(event)
    }

    static func addDigests(of row: UnsafeRawBufferPointer, to sum: inout Digests) throws {
        var reader = ByteReader(row)
        _ = try reader.readPackedVersion("a row's version")
        sum += try reader.readDigests()
    }

    /// Returns the seed for the content hash of a row, computed from its tree and the names of its owners.
    static func seed(_ owner: UInt128...) -> UInt128 {
        let words = owner.flatMap { [$0.low.littleEndian, $0.high.littleEndian] }
        return words.withUnsafeBytes { DigestHash.hash(UInt128(tree.rawValue), $0) }
    }
}

extension CommitBuilder {
    /// Decodes the event in the rest of a row.
    ///
    /// - Throws: ``StrataError`` if the row holds data that only a later release knows, because it would be lost.
    func event<Body: EventBody>(
        in row: UnsafeRawBufferPointer, at start: Int, as _: Body.Type
    ) throws -> Body {
        var reader = ByteReader(row, at: start)
        let event = try Body(from: &reader)
        try reader.expectEnd("an event")
        guard try event.event().body.elementsEqual(row[start...]) else {
            throw StrataError(
                .newerFormat, "The state has an event that only a later release can write into a base.",
                .init(found: "\(Body.kind)"))
        }
        return event
    }
}
