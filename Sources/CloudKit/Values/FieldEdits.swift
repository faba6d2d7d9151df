/// The caller's changes to the keys of a record, in the order of each key's first change.
///
/// Most records have few keys. A linear search finds them faster than hashing does; beyond a limit, a table maps each
/// key to its place.
struct FieldEdits: Sendable {
    struct Edit: Sendable {
        /// Nil if the value was removed.
        var content: FieldContent?
        var isEncrypted: Bool
    }

    private static let mostWithoutTable = 16

    private var edits: [(key: String, edit: Edit)] = []
    /// The place of every key, once there are more than a few keys; empty before.
    private var places: [String: Int] = [:]

    /// True if an asset was ever set. Most records have none, and then no caller has to check each key.
    private(set) var mayHaveAssets = false

    var isEmpty: Bool { edits.isEmpty }

    subscript(key: String) -> Edit? { place(of: key).map { edits[$0].edit } }

    mutating func set(_ content: FieldContent?, forKey key: String, isEncrypted: Bool) {
        let edit = Edit(content: content, isEncrypted: isEncrypted)
        if content?.isOfAssets == true { mayHaveAssets = true }
        if let place = place(of: key) {
            edits[place].edit = edit
            return
        }
        if edits.isEmpty { edits.reserveCapacity(8) }
        edits.append((key, edit))
        if edits.count > Self.mostWithoutTable {
            if places.isEmpty { makeTable() } else { places[key] = edits.count - 1 }
        }
    }

    mutating func remove(_ key: String) {
        guard let place = place(of: key) else { return }
        edits.remove(at: place)
        places = [:]
        if edits.count > Self.mostWithoutTable { makeTable() }
    }

    private func place(of key: String) -> Int? {
        places.isEmpty ? edits.firstIndex { $0.key == key } : places[key]
    }

    private mutating func makeTable() {
        for (place, edit) in edits.enumerated() { places[edit.key] = place }
    }
}

extension FieldEdits: Sequence {
    func makeIterator() -> IndexingIterator<[(key: String, edit: Edit)]> { edits.makeIterator() }
    var underestimatedCount: Int { edits.count }
}
