import StrataModel

/// The rewriting of a sealed segment with its commits up to a position.
struct SealedRewrite: Sendable, Equatable {
    var end: Position
    var time: Int64
    /// The names that the segment itself still provides.
    var names: [UsedNames.Key: InternedName]
    /// The names that the log introduces up to `end`, if it was read from its beginning.
    var table: NameTable?

    static func == (left: SealedRewrite, right: SealedRewrite) -> Bool {
        left.end == right.end && left.time == right.time && left.names == right.names
    }

    func name(of key: UsedNames.Key) -> InternedName? {
        names[key] ?? table?.name(key.namespace, key.ordinal).map { InternedName(ordinal: key.ordinal, name: $0) }
    }
}
