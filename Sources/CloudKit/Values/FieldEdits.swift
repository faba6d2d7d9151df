/// The values that the caller set in a record, in the order of each key's first change.
///
/// Each is numbered. Once a save has succeeded, those up to the number at its start are *saved*: they still override
/// the original fields, but are no longer changes (B319).
///
/// Most records have few keys. A linear search finds them faster than hashing does; beyond a limit, a table maps each
/// key to its place.
struct FieldEdits: Sendable {
    struct Edit: Sendable {
        /// Nil if the value was removed.
        var content: FieldContent?
        var isEncrypted: Bool
        fileprivate(set) var number: UInt64 = 0
        /// True if the store has a value for the key, false if it has none; nil if that depends on the original field.
        fileprivate(set) var isStored: Bool?
    }

    private static let mostWithoutTable = 16

    private var edits: [(key: String, edit: Edit)] = []
    /// The place of every key, once there are more than a few keys; empty before.
    private var places: [String: Int] = [:]

    /// True if an asset was ever set. Most records have none, and then no caller has to check each key.
    private(set) var mayHaveAssets = false

    /// The number of the last edit.
    private(set) var lastNumber: UInt64 = 0
    /// The number of the last edit that is saved.
    private var savedThrough: UInt64 = 0

    func isSaved(_ edit: Edit) -> Bool { isSaved(edit.number) }
    func isSaved(_ number: UInt64) -> Bool { number <= savedThrough }

    /// Returns the number of a new edit.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    subscript(key: String) -> Edit? { place(of: key).map { edits[$0].edit } }

    mutating func set(_ content: FieldContent?, forKey key: String, isEncrypted: Bool) {
        var edit = Edit(content: content, isEncrypted: isEncrypted, number: nextNumber())
        if content?.isOfAssets == true { mayHaveAssets = true }
        if let place = place(of: key) {
            edit.isStored = isStored(edits[place].edit)
            edits[place].edit = edit
            return
        }
        if edits.isEmpty { edits.reserveCapacity(8) }
        edits.append((key, edit))
        if edits.count > Self.mostWithoutTable {
            if places.isEmpty { makeTable() } else { places[key] = edits.count - 1 }
        }
    }

    /// Replaces the content of an edit by another form of it.
    mutating func replaceContent(_ content: FieldContent, forKey key: String) {
        if let place = place(of: key) { edits[place].edit.content = content }
    }

    /// Undoes the edit of a key for which the store has no value.
    mutating func remove(_ key: String) {
        guard let place = place(of: key) else { return }
        // A request may have been sent with the edit.
        _ = nextNumber()
        if savedThrough > 0 {
            // The original field may have a value, which the store no longer has.
            edits[place].edit = Edit(content: nil, isEncrypted: edits[place].edit.isEncrypted)
        } else {
            keep(edits.indices.filter { $0 != place })
        }
    }

    private mutating func keep(_ kept: [Int]) {
        edits = kept.map { edits[$0] }
        places = [:]
        if edits.count > Self.mostWithoutTable { makeTable() }
    }

    // MARK: Saves

    /// Returns true if the store has a value for the key of an edit; nil if that depends on the original field.
    func isStored(_ edit: Edit) -> Bool? { isSaved(edit) ? edit.content != nil : edit.isStored }

    /// Removes the edits that are saved.
    mutating func removeSaved() {
        guard savedThrough > 0 else { return }
        keep(edits.indices.filter { !isSaved(edits[$0].edit) })
    }

    /// Marks the edits that a request sent as saved, except those that were made after it started.
    mutating func markSaved(_ sent: FieldEdits) {
        if lastNumber > sent.lastNumber {
            for (key, edit) in sent {
                let isUndone = place(of: key).map { edits[$0].edit.number == 0 } ?? true
                // Undone while the value was being saved: the store has it now.
                if isUndone, edit.content != nil { set(nil, forKey: key, isEncrypted: edit.isEncrypted) }
                guard let place = place(of: key), edits[place].edit.number > sent.lastNumber else { continue }
                edits[place].edit.isStored = edit.content != nil
            }
        }
        savedThrough = Swift.max(savedThrough, sent.lastNumber)
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
