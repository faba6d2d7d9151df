import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Finds out whether a device knows the state of a record, and if not, why.
extension DeviceViewBuilder {
    /// An event of the record, with the header of its commit.
    private struct Event {
        let version: Version
        let time: Int64
        let header: EnvelopeHeader
        let isDeletion: Bool
        let saved: RecordSavedEvent?
    }

    func knowledge(
        of id: RecordID, in database: DatabaseID, _ account: AccountStatus, _ zones: [DeviceView.Zone]
    ) throws -> DeviceView.RecordKnowledge {
        let place = try trees.place(of: id.zone, in: database, as: actor)
        let known = try place.map { try events(of: RecordKey(zone: $0.zone, name: id.name)) }
        func answer(
            _ verdict: DeviceView.RecordKnowledge.Verdict, audit: UInt64? = nil, refusal: Refusal? = nil
        ) -> DeviceView.RecordKnowledge {
            let last = known?.last
            return DeviceView.RecordKnowledge(
                id: id, database: database, verdict: verdict, version: last?.version, time: last?.time,
                madeBy: last.flatMap { try? trees.actor(of: $0.header) }, isDeleted: last?.isDeletion ?? false,
                audit: audit, refusal: refusal, lastSave: known?.own?.version, lastSaveBase: known?.own?.saved?.base)
        }
        guard let place else { return answer(.neverThere) }
        guard let last = known?.last else {
            let isStored = try trees.withRecord(RecordKey(zone: place.zone, name: id.name)) { _ in } != nil
            return answer(isStored ? .notKnown : .neverThere)
        }
        let gone = try trees.zoneRow(place.database, place.zone).map { $0.status != .alive } ?? true
        if gone { return answer(.notKnown) }
        if database.scope == .shared {
            // A record outside the user's shares does not exist for the device.
            let found = try snapshot.records([id], in: DatabaseID(.shared), desiredKeys: [], as: actor)
            guard case .success? = found.first else { return answer(.neverThere) }
        }
        if isOwn(last.header) { return answer(.madeIt) }
        let (gave, latest) = givers(of: last.version, id, database)
        if let gave { return answer(.given, audit: gave.audit) }
        if account != .available { return answer(.accountUnavailable, audit: latest?.audit) }
        let zone = zones.first { $0.database == database && isSame($0.zone, id.zone, database) }
        if let refusal = zone?.given?.refusal {
            return answer(.tokenRefused, audit: zone?.given?.audit, refusal: refusal)
        }
        if let latest { return answer(.notFetchedSince, audit: latest.audit) }
        return answer(fetches.isEmpty ? .noFetchNoted : .fetchedElsewhere)
    }

    /// Returns the first fetch that gave the device a version, and the last one that asked for the record or its zone.
    private func givers(of version: Version, _ id: RecordID, _ database: DatabaseID) -> (gave: Fetch?, latest: Fetch?) {
        var (gave, latest): (Fetch?, Fetch?)
        for fetch in fetches where fetch.event.database == database {
            switch fetch.event.question {
            case .zoneChanges where fetch.event.zone.map({ isSame($0, id.zone, database) }) ?? false:
                latest = fetch
                if gave == nil, Self.covers(fetch.event.returnedToken, version) { gave = fetch }
            case .records where asksFor(id, fetch):
                latest = fetch
                if gave == nil, fetch.event.offset >= version.offset { gave = fetch }
            default: break
            }
        }
        return (gave, latest)
    }

    /// Compares zones, by their owners too if the database is the shared one.
    private func isSame(_ zone: ZoneID, _ other: ZoneID, _ database: DatabaseID) -> Bool {
        isSameText(zone.name, other.name) && (database.scope != .shared || isSameText(zone.owner, other.owner))
    }

    private func asksFor(_ id: RecordID, _ fetch: Fetch) -> Bool {
        let asked = (try? fetch.event.ids()) ?? []
        return asked.contains {
            isSame($0.zone, id.zone, fetch.event.database) && $0.name.utf8.elementsEqual(id.name.utf8)
        }
    }

    /// Returns true if a device with the token was given a version.
    private static func covers(_ bytes: [UInt8]?, _ version: Version) -> Bool {
        guard let token = bytes.flatMap({ try? FeedToken(unverified: $0) }) else { return false }
        switch token.progress {
        case .whole: return version.offset <= token.position.offset
        case .within(let seen):
            return version.offset < token.position.offset
                || version.offset == token.position.offset && UInt64(version.eventIndex) <= seen
        case .scanningZones, .scanningRecords, .shares: return false
        }
    }

    /// Returns the last event of a record, and the last save by the device.
    private func events(of record: RecordKey) throws -> (last: Event?, own: Event?) {
        var versions: [Version] = []
        try store.log.forEachTouch(of: record, after: store.log.floor.offset, through: snapshot.offset) { touch in
            versions.append(Version(offset: touch.offset, eventIndex: touch.eventIndex))
        }
        var (last, own): (Event?, Event?)
        for version in versions.reversed() {
            guard own == nil, let event = try event(at: version) else { break }
            last = last ?? event
            if isOwn(event.header), let saved = event.saved, saved.change != .touch { own = event }
        }
        return (last, own)
    }

    private func event(at version: Version) throws -> Event? {
        guard let (event, commit, header) = try store.log.event(at: version) else { return nil }
        return Event(
            version: version, time: commit.time, header: header, isDeletion: event.kind != .recordSaved,
            saved: event.kind == .recordSaved ? try RecordSavedEvent(decoding: event.body) : nil)
    }
}
