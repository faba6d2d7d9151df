import StrataTree

/// Results of looking something up in the trees of a store, each with the trees that it depends on. A result is found
/// again in any state that has the same trees, and in no other: after a change to them, in a branch, or in the past.
struct Lookups<Key: Hashable, Value: Sendable> {
    /// The content of the trees that a result depends on.
    struct Source: Equatable, Sendable {
        private let first: TreeIdentity
        private let second: TreeIdentity?

        init(_ trees: Snapshot, _ first: TreeID, _ second: TreeID? = nil) {
            self.first = trees.identity(of: first)
            self.second = second.map { trees.identity(of: $0) }
        }
    }

    struct Entry: Sendable {
        let value: Value
        /// Nil if the value holds in every state.
        let source: Source?
    }

    /// The number of entries above which all are forgotten and looked up again.
    private static var maximumCount: Int { 1 << 12 }

    private var entries: [Key: Entry] = [:]

    subscript(key: Key) -> Entry? { entries[key] }

    subscript(key: Key, source: Source) -> Value? {
        guard let entry = entries[key], entry.source == source else { return nil }
        return entry.value
    }

    mutating func keep(_ value: Value, for key: Key, _ source: Source?) {
        if entries.count >= Self.maximumCount, entries[key] == nil { entries = [:] }
        entries[key] = Entry(value: value, source: source)
    }
}
