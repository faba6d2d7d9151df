import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// The commits that can have shaped one record: those that touched it or a record it refers to, and those that created
/// or deleted their zones. They are found through the log's change lists.
struct DependencyClosure {
    /// With more commits than this, the whole log is read instead.
    private static let maximumCommits = 100_000

    private let store: Store
    private var log: any EventLog { store.log }
    private(set) var offsets: Set<UInt64> = []
    /// The offsets of commits that created or deleted zones.
    private(set) var zoneOffsets: Set<UInt64> = []
    private(set) var records: Set<RecordName> = []
    private var waiting: [RecordKey] = []
    private var seen: Set<RecordKey> = []
    private var zones: Set<UInt64> = []
    /// True if the closure has too many commits, so that some are missing.
    private(set) var isCut = false

    /// - Parameter takesWhole: true to follow also the other records that these commits touched.
    init(of record: RecordKey, in store: Store, takesWhole: Bool) throws {
        self.store = store
        add(record)
        while let record = waiting.popLast(), !isCut { try follow(record, takesWhole) }
    }

    private mutating func add(_ record: RecordKey) {
        if seen.insert(record).inserted { waiting.append(record) }
    }

    private mutating func follow(_ record: RecordKey, _ takesWhole: Bool) throws {
        let place = try store.past.place(of: record)
        records.insert(RecordName(place.database, zone: place.id.zone, place.id.name))
        if zones.insert(record.zone).inserted {
            try addLife(ofZone: record.zone)
            // No record refers to the share of a whole zone.
            add(RecordKey(zone: record.zone, name: ShareState.zoneWideName))
        }
        var commits = store.past.touches(
            .record(record.name, zones: [record.zone]), after: log.floor.offset, through: log.end.offset)
        while let touched = try commits.next(), !isCut {
            offsets.insert(touched.offset)
            isCut = offsets.count > Self.maximumCommits
            guard let commit = try log.commit(at: touched.offset) else { continue }
            try addLinks(of: record, in: commit, takesWhole)
        }
    }

    /// Adds the records that saves of the record refer to.
    private mutating func addLinks(of record: RecordKey, in commit: Commit, _ takesWhole: Bool) throws {
        for event in try Envelope(decoding: commit.payload).events {
            switch event.kind {
            case .recordSaved:
                let saved = try RecordSavedEvent(decoding: event.body)
                if takesWhole { add(saved.record) }
                guard takesWhole || saved.record == record else { continue }
                for link in [saved.parent, saved.share] {
                    if case .set(let target) = link { add(target) }
                }
                for field in saved.fields {
                    for target in field.value?.targets ?? [] { add(target) }
                }
            case .recordDeleted where takesWhole: add(try RecordDeletedEvent(decoding: event.body).record)
            default: break
            }
        }
    }

    private mutating func addLife(ofZone zone: UInt64) throws {
        try log.forEachTouch(ofZone: zone, after: log.floor.offset, through: .max) { touch in
            if touch.kind == .zoneSaved || touch.kind == .zoneDeleted { zoneOffsets.insert(touch.offset) }
        }
        offsets.formUnion(zoneOffsets)
    }
}
