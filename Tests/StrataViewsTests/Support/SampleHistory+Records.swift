import StrataModel

extension SampleHistory {
    mutating func appendRecordEvent() throws {
        guard let zone = zones.keys.sorted().randomElement(using: &generator) else { return try appendZoneEvent() }
        let place = Place(zone: zone, record: chance(35) ? 5 : generator.next(below: HistoryNames.recordCount))
        guard let life = records[place] else { return try appendCreation(of: place) }
        guard let previous = version(life.version) else { return }
        if chance(8) {
            let event = RecordDeletedEvent(
                key(place), type: names.ordinal(.type(life.type)), previous: previous, isCascade: chance(30))
            // Nothing is drawn for it, so that histories stay what they were.
            if life.eventsSinceFull % 3 == 2 {
                _ = append(
                    try RecordErasedEvent(event.record, type: event.type, previous: previous, reason: "x").event())
                _ = append(try RecordErasedEvent(event.record, type: event.type, previous: nil).event())
            } else {
                _ = append(try event.event())
            }
            records[place] = nil
        } else {
            try appendUpdate(of: place, life, previous)
        }
    }

    private mutating func appendCreation(of place: Place) throws {
        let type = generator.next(below: HistoryNames.typeCount)
        var event = RecordSavedEvent(.create, key(place), type: names.ordinal(.type(type)))
        try fill(&event, in: place.zone)
        records[place] = RecordLife(version: append(try event.event()), type: type)
    }

    private mutating func appendUpdate(of place: Place, _ life: RecordLife, _ previous: Version) throws {
        let isTouch = chance(15)
        var event = RecordSavedEvent(
            isTouch ? .touch : .update, key(place), type: names.ordinal(.type(life.type)), previous: previous)
        // The format wants every sixteenth event full; others may be.
        event.isFull = life.eventsSinceFull == RecordHeader.maximumEventsSinceFull || !isTouch && chance(4)
        if event.isFull || !isTouch { try fill(&event, in: place.zone) }
        if event.isFull {
            event.created = time - Int64(generator.next(below: 1_000))
            event.createdBy = names.ordinal(.user(generator.next(below: HistoryNames.userCount)))
        }
        let version = append(try event.event())
        records[place] = RecordLife(
            version: version, type: life.type, eventsSinceFull: event.isFull ? 0 : life.eventsSinceFull + 1)
    }

    private mutating func fill(_ event: inout RecordSavedEvent, in zone: Int) throws {
        event.policy = SavePolicy.allCases[generator.next(below: 3)]
        if chance(50) { event.base = event.previous }
        if chance(20) { event.modified = time + Int64(generator.next(below: 3_000)) }
        if chance(10) { event.modifiedBy = names.ordinal(.user(generator.next(below: HistoryNames.userCount))) }
        if chance(10) { event.modifiedWith = 0 }
        event.parent = try link(in: zone, mayRemove: !event.isFull)
        if chance(10) { event.share = try link(in: zone, mayRemove: !event.isFull) }
        var fields: [UInt32: FieldValue?] = [:]
        for _ in 0..<generator.next(below: 8) {
            let field = names.ordinal(.field(generator.next(below: HistoryNames.fieldCount)))
            fields[UInt32(field)] = .some(!event.isFull && chance(25) ? nil : try value(in: zone))
        }
        event.fields = fields.sorted { $0.key < $1.key }.map { FieldChange($0.key, $0.value) }
    }

    private mutating func link(in zone: Int, mayRemove: Bool) throws -> LinkChange {
        switch generator.next(below: 10) {
        case 0..<2: .set(target(from: zone))
        case 2: mayRemove ? .removed : .kept
        default: .kept
        }
    }

    /// Mostly in the same zone; the target need not be there.
    private mutating func target(from zone: Int) -> RecordKey {
        let zone = chance(70) ? zone : generator.next(below: HistoryNames.zoneCount)
        return key(Place(zone: zone, record: generator.next(below: HistoryNames.recordCount)))
    }

    private mutating func key(_ place: Place) -> RecordKey {
        RecordKey(zone: names.ordinal(.zone(place.zone)), name: HistoryNames.record(place.record))
    }

    private mutating func value(in zone: Int) throws -> FieldValue {
        let kind = generator.next(below: 8)
        switch generator.next(below: 8) {
        case 0...1: return reference(in: zone)
        case 2:
            let count = generator.next(below: 4)
            return .list(
                try FieldList((0..<count).map { _ in kind >= 4 ? reference(in: zone) : values.nextScalar(kind) }))
        case 3:
            return .sealed(
                .init(
                    keyID: 3, nonce: generator.nextBytes(24), ciphertext: generator.nextBytes(generator.next(below: 40))
                ))
        case 4 where chance(10): return .data(generator.nextBytes(5_000))
        default: return kind == 6 ? reference(in: zone) : values.nextScalar(kind)
        }
    }

    private mutating func reference(in zone: Int) -> FieldValue {
        .reference(.init(target(from: zone), action: chance(50) ? .none : .deleteSelf))
    }
}
