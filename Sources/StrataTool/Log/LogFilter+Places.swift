import StrataModel
import StrataReplay

/// Databases, zones, records and types that events name.
extension LogFilter {
    /// Returns true if an event names the requested places.
    ///
    /// - Throws: ``StrataError`` if the event cannot be decoded.
    func fits(placesOf event: Event, _ header: EnvelopeHeader, _ names: KnownNames) throws -> Bool {
        switch event.kind {
        case .recordSaved, .recordDeleted, .recordErased:
            let (record, type) = try event.record()
            return fits(zone: record.zone, names) && fits(type: type, names) && fits(record: record.name)
        case .requestRefused, .nothingToDelete:
            return try fits(request: event.requestNote()?.request, header, names)
        case .fetched: return try fits(FetchedEvent(decoding: event.body), header, names)
        default: return try record == nil && fits(others: event, names)
        }
    }

    /// Returns true if an event that is not about a record fits.
    private func fits(others event: Event, _ names: KnownNames) throws -> Bool {
        switch try event.described() {
        case let saved as ZoneSavedEvent: type == nil && fits(zone: saved.zone, names)
        case let deleted as ZoneDeletedEvent: type == nil && fits(zone: deleted.zone, names)
        case let changed as SchemaChangedEvent:
            scope == nil && owner == nil && zone == nil && fits(type: changed.type, names)
        case let saved as SubscriptionSavedEvent:
            fits(database: saved.database, names) && fits(type: saved.subscription.recordType, names)
                && (zone == nil || fits(zone: saved.subscription.zone, names))
        case let deleted as SubscriptionDeletedEvent:
            zone == nil && type == nil && fits(database: deleted.database, names)
        case let kept as ClientTokenEvent: type == nil && fits(zone: kept.zone, names)
        case let created as DatabaseCreatedEvent:
            zone == nil && type == nil && fits(database: created.database, names)
        case let expired as TokensExpiredEvent:
            zone == nil && type == nil && fits(database: expired.database, names)
        default: false
        }
    }

    private func fits(zone ordinal: UInt64, _ names: KnownNames) -> Bool {
        (zone.map { Self.isSame(names.zone(ordinal), $0) } ?? true)
            && fits(database: names.database(ofZone: ordinal), names)
    }

    private func fits(type ordinal: UInt64, _ names: KnownNames) -> Bool {
        type.map { Self.isSame(names.recordType(ordinal), $0) } ?? true
    }

    private func fits(record name: String) -> Bool { record.map { Self.isSame(name, $0) } ?? true }

    // MARK: Audits, which carry names as the client sent them

    /// A request may omit the owner, who is then the user that sent it.
    private func fits(asked database: DatabaseID, _ header: EnvelopeHeader, _ names: KnownNames) -> Bool {
        fits(database.named(for: names.user(header.user) ?? ""))
    }

    private func fits(_ fetched: FetchedEvent, _ header: EnvelopeHeader, _ names: KnownNames) throws -> Bool {
        guard type == nil, fits(asked: fetched.database, header, names) else { return false }
        if zone == nil, record == nil { return true }
        let isOfZone = record == nil && fetched.zone.map { fits(zone: $0) } ?? false
        return try isOfZone || fetched.ids().contains { fits(zone: $0.zone) && fits(record: $0.name) }
    }

    private func fits(zone id: ZoneID) -> Bool { zone.map { Self.isSame(id.name, $0) } ?? true }

    /// - Parameter bytes: an encoded request, as far as it was kept.
    private func fits(request bytes: [UInt8]?, _ header: EnvelopeHeader, _ names: KnownNames) throws -> Bool {
        guard let bytes else { return false }
        let request = try Request(decoding: bytes[...])
        guard fits(asked: request.database, header, names) else { return false }
        if zone == nil, record == nil, type == nil { return true }
        func isInZone(_ ordinal: UInt64) -> Bool {
            request.names.zone(ordinal).map { fits(zone: $0) } ?? (zone == nil)
        }
        func isOfType(_ ordinal: UInt64) -> Bool {
            type.map { Self.isSame(request.names.recordType(ordinal), $0) } ?? true
        }
        switch request.content {
        case .modifyRecords, .modifyZones: return request.hasItem(zone: zone, record: record, type: type)
        case .modifySubscriptions(let body):
            return record == nil && body.saves.contains { isInZone($0.zone) && isOfType($0.recordType) }
        case .declareSchema(let body):
            return zone == nil && record == nil && body.declarations.contains { isOfType($0.type) }
        case .administer, .notify, .joinShares: return false
        }
    }
}
