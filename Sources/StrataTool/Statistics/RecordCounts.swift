import StrataModel

/// Counts saves and deletions of records, with what `strata stats` prints of them.
struct RecordCounts {
    private(set) var created: UInt64 = 0
    private(set) var updated: UInt64 = 0
    /// Saves that only gave a record a new version because a child was saved.
    private(set) var touched: UInt64 = 0
    /// The bytes of creation events.
    private(set) var createdBytes: UInt64 = 0
    private(set) var deleted: UInt64 = 0
    /// Deletions that followed from that of another record.
    private(set) var cascaded: UInt64 = 0
    private(set) var erased: UInt64 = 0

    var saves: UInt64 { created + updated + touched }
    /// Saves that replaced an existing version.
    var overwritten: UInt64 { updated + touched }

    mutating func addSave(_ change: RecordSavedEvent.Change, bytes: Int) {
        switch change {
        case .create:
            created += 1
            createdBytes += UInt64(bytes)
        case .update: updated += 1
        case .touch: touched += 1
        }
    }

    mutating func addDeletion(_ event: RecordDeletedEvent) {
        deleted += 1
        if event.isCascade { cascaded += 1 }
    }

    mutating func addErasure() { erased += 1 }

    static let shape = Shape<Self>("Records that are counted") {
        Key("created", "saves that created a record") { $0.created }
        Key("updated", "saves that changed one") { $0.updated }
        Key("touched", "new versions because a child was saved") { $0.touched }
        Key("overwritten", "saves that replaced a version") { $0.overwritten }
        Key("deleted", "records that were deleted") { $0.deleted }
        Key("cascaded", "how many of them were deleted with another record") { $0.cascaded }
        Key("erased", "records that were erased") { $0.erased }
    }

    var lines: [(String, String)] {
        let share = saves == 0 ? 0 : Int((Double(overwritten) * 100 / Double(saves)).rounded())
        return [
            (
                "saves",
                "\(saves): \(created) created, \(updated) updated, \(touched) touched; \(share)% overwrote a version"
            ),
            ("deletions", "\(deleted), \(cascaded) of them with another record; \(erased) erased"),
        ]
    }
}
