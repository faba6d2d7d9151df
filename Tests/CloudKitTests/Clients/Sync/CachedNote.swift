import CloudKit

/// A note as a device remembers it.
struct CachedNote: Codable, Equatable {
    /// What the device's user sees.
    var values: [String: Int] = [:]
    /// What the store had when the device last heard of the note.
    var base: [String: Int] = [:]
    /// The record's system fields, archived; nil for a note that the store does not have.
    var system: Data?
    var isDeleted = false

    /// Whether the store has to be told of it.
    var isDirty: Bool { isDeleted || system == nil || values != base }

    /// The record to save: what the device knows of its version, and the keys that were edited.
    func record(_ id: CKRecord.ID) throws -> CKRecord {
        var record = CKRecord(recordType: "Note", recordID: id)
        if let system {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: system)
            unarchiver.requiresSecureCoding = true
            guard let known = CKRecord(coder: unarchiver) else { throw CKError(.internalError) }
            record = known
        }
        for key in Set(values.keys).union(base.keys) where values[key] != base[key] { record[key] = values[key] }
        return record
    }

    /// Takes over what the store has, and keeps what was edited here on top of it.
    mutating func merge(with server: CKRecord) {
        let theirs = server.values
        values = Self.merged(base: base, mine: values, theirs: theirs)
        keep(server)
    }

    /// Takes over what the store has.
    mutating func replace(with server: CKRecord) {
        values = server.values
        keep(server)
    }

    mutating func keep(_ server: CKRecord) {
        base = server.values
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        server.encodeSystemFields(with: archiver)
        system = archiver.encodedData
    }

    /// Forgets that the store had it: it will be uploaded as a new one.
    mutating func forgetStore() {
        base = [:]
        system = nil
    }

    /// Three ways: what one side changed is kept; where both did, the larger number wins, on every device alike.
    private static func merged(base: [String: Int], mine: [String: Int], theirs: [String: Int]) -> [String: Int] {
        var result: [String: Int] = [:]
        for key in Set(mine.keys).union(theirs.keys) {
            let (own, other) = (mine[key], theirs[key])
            if own == base[key] {
                result[key] = other
            } else if other == base[key] {
                result[key] = own
            } else {
                result[key] = [own, other].compactMap { $0 }.max()
            }
        }
        return result
    }
}

extension CKRecord {
    var values: [String: Int] {
        var values: [String: Int] = [:]
        for (key, value) in self { values[key] = value as? Int }
        return values
    }
}
