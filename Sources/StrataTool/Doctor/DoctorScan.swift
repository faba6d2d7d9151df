import StrataLog
import StrataModel

/// The pass of `strata doctor` over all commits of a store, in bounded memory.
struct DoctorScan {
    private(set) var names = KnownNames()
    private(set) var fields = FieldChanges()
    private(set) var deletions = DeletionScan()
    private(set) var shares = ShareScan()
    private(set) var clock = ClockScan()
    private(set) var refusals = RefusalScan()
    private(set) var lookAlikes = LookAlikeScan()
    private(set) var devices = DeviceScan()
    private(set) var subscriptions = SubscriptionScan()

    private(set) var commitCount: UInt64 = 0
    /// The number of commits that cannot be decoded.
    private(set) var malformedCount: UInt64 = 0
    private(set) var lastTime: Int64 = 0
    /// The intact part of the store, and the damage after it.
    private(set) var store: StoreAccess
    private(set) var damage: StrataError?
    /// The damage, or that commits cannot be decoded.
    var damageOrMalformed: StrataError? {
        if let damage { return damage }
        guard malformedCount > 0 else { return nil }
        return StrataError(
            .malformed, "Commits cannot be decoded.", .init(found: malformedCount.counted("commit")))
    }

    init(_ store: StoreAccess) throws {
        self.store = store
        damage = try names.addAll(of: store, before: store.reader.floor.offset + 1)
        try addBase()
        var source = try CommitSource(store, from: store.reader.floor.offset + 1)
        while let commit = try source.next() { add(commit) }
        self.store = source.store
        damage = damage ?? source.store.damage
        deletions.finish(names)
        clock.finish(names)
    }

    /// Counts the records of the compacted history.
    private mutating func addBase() throws {
        guard damage == nil else { return }
        guard var base = try store.reader.readBase() else { return }
        let origin = ScannedCommit(
            offset: base.horizon.offset, time: base.time, author: .init(user: 0, device: 0), operation: .none)
        while let payload = try base.next() {
            try payload.withUnsafeBytes { bytes in
                var walker = try EventWalker(bytes)
                while let event = try walker.next() {
                    let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                    var reader = ByteReader(body)
                    switch event.kind {
                    case .recordSaved:
                        let record = try RecordEvent(event.kind, body)
                        deletions.addRecord(in: record.zone)
                        if isShare(record) { try addShare(record, record.saved(), origin) }
                    case .shareSaved: shares.add(try ShareSavedEvent(from: &reader))
                    case .memberChanged: shares.add(try MemberChangedEvent(from: &reader))
                    default: break
                    }
                }
            }
        }
        shares.forget()
    }

    private mutating func add(_ commit: Commit) {
        commitCount += 1
        // So that differences of times do not overflow.
        let time = max(min(commit.time, Self.latestTime), -Self.latestTime)
        lastTime = time
        do {
            try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                let header = try walker.header()
                let scanned = ScannedCommit(
                    offset: commit.offset, time: time, author: .init(user: header.user, device: header.device),
                    operation: header.operationKind)
                clock.add(scanned, names)
                while let event = try walker.next() {
                    let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                    let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
                    try add(event.kind, body, at: version, scanned)
                }
                if !header.requestShape.isEmpty {
                    refusals.add(try RequestShape(decoding: header.requestShape), scanned)
                }
                shares.end(scanned, deletions, names)
                deletions.end(scanned, names)
            }
        } catch {
            malformedCount += 1
            shares.forget()
            deletions.forget()
        }
    }

    private static let latestTime: Int64 = 1 << 60

    private mutating func add(
        _ kind: EventKind, _ body: UnsafeRawBufferPointer, at version: Version, _ commit: ScannedCommit
    ) throws {
        var reader = ByteReader(body)
        switch kind {
        case .recordSaved: try addSave(try RecordEvent(kind, body), at: version, commit)
        case .recordDeleted:
            let event = try RecordDeletedEvent(from: &reader)
            deletions.addDeletion(of: event.record, isCascade: event.isCascade)
            subscriptions.addChange(of: event.record.zone, by: commit)
        case .recordErased:
            let event = try RecordErasedEvent(from: &reader)
            if event.previous != nil { deletions.addErasure(in: event.record.zone) }
        case .nameInterned: names.add(try InternedName(decoding: Array(body)[...]))
        case .zoneDeleted: deletions.addDeletion(ofZone: try ZoneDeletedEvent(from: &reader).zone)
        case .sharedRecord: shares.add(try SharedRecordEvent(from: &reader))
        case .shareSaved: shares.add(try ShareSavedEvent(from: &reader))
        case .memberChanged: shares.add(try MemberChangedEvent(from: &reader))
        case .requestRefused: refusals.add(try RequestRefusedEvent(from: &reader), commit)
        case .fetched: devices.add(try FetchedEvent(from: &reader), commit, names)
        default: break
        }
    }

    private func isShare(_ event: RecordEvent) -> Bool { names.recordType(event.type) == ShareState.recordType }

    private mutating func addSave(_ event: RecordEvent, at version: Version, _ commit: ScannedCommit) throws {
        let view = try event.saved()
        guard view.change != .touch else { return }
        if view.change == .create { deletions.addRecord(in: event.zone) }
        subscriptions.addChange(of: event.zone, by: commit)
        // The rules merge the participants of shares.
        guard !isShare(event) else { return try addShare(event, view, commit) }
        try fields.add(event, view, at: version, commit)
        try lookAlikes.add(event, view, commit)
    }

    private mutating func addShare(_ event: RecordEvent, _ view: RecordSavedView, _ commit: ScannedCommit) throws {
        let table = try view.fields
        for index in 0..<table.count where names.field(UInt64(table.ordinal(at: index))) == ShareState.key {
            let value = try? FieldValue(decoding: event.body, in: table.range(at: index))
            if let state = ShareState(value) { shares.add(state, of: try event.key, at: commit.offset) }
        }
    }
}
