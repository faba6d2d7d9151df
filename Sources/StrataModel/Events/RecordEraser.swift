/// Removes the values of some records from the payloads of commits (docs/format.md §28).
///
/// The positions, kinds and versions of these records' events remain, with their dates and users, so that all other
/// events keep their positions and meanings.
///
/// ```swift
/// let eraser = RecordEraser([.init(key, zone: "Notes", in: database, ownerOrdinal: 1, through: 4711)])
/// if let erased = try eraser.erased(commit.payload, at: commit.offset) { rewrite(erased) }
/// ```
package struct RecordEraser: Sendable {
    /// A record by ordinals, as in events, and by names, as in requests.
    package struct Target: Sendable {
        var record: RecordKey
        var zone: String
        var database: DatabaseID
        var ownerOrdinal: UInt64
        var ownerNames: [String]
        var through: UInt64

        /// - Parameters:
        ///   - zone: The name of the record's zone, which belongs to the database's owner.
        ///   - database: The database with the name of its owner.
        ///   - ownerOrdinal: The ordinal of the database's owner; 0 in the public database.
        ///   - ownerNames: Other names by which requests denote that owner.
        ///   - offset: The offset of the erasure. A record created under the same name after it stays.
        package init(
            _ record: RecordKey, zone: String, in database: DatabaseID, ownerOrdinal: UInt64,
            ownerNames: [String] = [], through offset: UInt64
        ) {
            self.record = record
            self.zone = zone
            self.database = database
            self.ownerOrdinal = ownerOrdinal
            self.ownerNames = ownerNames + [database.owner]
            through = offset
        }
    }

    private let targets: [Target]
    private let zones: Set<UInt64>
    /// The offset of each record's last erasure.
    private let keys: [RecordKey: UInt64]
    private let names: Set<ExactName>

    package init(_ targets: [Target]) {
        self.targets = targets
        keys = Dictionary(targets.map { ($0.record, $0.through) }, uniquingKeysWith: max)
        zones = Set(targets.map(\.record.zone))
        names = Set(targets.map { ExactName(text: $0.record.name) })
    }

    /// Returns the payload without the values of the records; nil if it contains none.
    package func erased(_ payload: ArraySlice<UInt8>, at offset: UInt64) throws -> [UInt8]? {
        guard try payload.withUnsafeBytes({ try mayHold($0) }) else { return nil }
        var envelope = try Envelope(decoding: payload)
        var isChanged = try erase(&envelope.header)
        for index in envelope.events.indices {
            guard let event = try erased(envelope.events[index], offset, user: envelope.header.user) else { continue }
            envelope.events[index] = event
            isChanged = true
        }
        return isChanged ? envelope.encoded() : nil
    }

    /// Returns true if the payload may contain values of the records; false is certain.
    private func mayHold(_ payload: UnsafeRawBufferPointer) throws -> Bool {
        var walker = try EventWalker(payload)
        if try !walker.header().requestShape.isEmpty { return true }
        while let event = try walker.next() {
            switch event.kind {
            case .requestRefused, .nothingToDelete, .fetched: return true
            case .recordSaved:
                var reader = ByteReader(payload, in: event.body)
                if zones.contains(try reader.readEventZone()) { return true }
            default: break
            }
        }
        return false
    }

    private func erased(_ event: Event, _ offset: UInt64, user: UInt64) throws -> Event? {
        switch event.kind {
        case .recordSaved:
            guard try event.body.withUnsafeBytes({ try isOfTarget(event.kind, $0, offset) }) else { return nil }
            let save = try RecordSavedEvent(decoding: event.body)
            let isHeld = !save.fields.isEmpty || save.parent != .kept || save.share != .kept
            return isHeld ? try save.erased.event() : nil
        default:
            guard var note = try event.requestNote(), let kept = note.kept.bytes,
                let request = try erased(Request(decoding: kept[...]), user: user)
            else { return nil }
            note.kept.bytes = try request.encoded()
            return try note.event()
        }
    }

    private func isOfTarget(_ kind: EventKind, _ body: UnsafeRawBufferPointer, _ offset: UInt64) throws -> Bool {
        let event = try RecordEvent(kind, body)
        guard zones.contains(event.zone) else { return false }
        return keys[try event.key].map { offset <= $0 } ?? false
    }

    private func erase(_ header: inout EnvelopeHeader) throws -> Bool {
        guard !header.requestShape.isEmpty else { return false }
        var shape = try RequestShape(decoding: header.requestShape)
        guard let request = try shape.request.flatMap({ try erased($0, user: header.user) }) else { return false }
        shape.replaceRequest(request)
        header.requestShape = try shape.encoded()[...]
        return true
    }

    /// Returns the request without the values that it would have saved into the records; nil if it contains none. A
    /// request that was rejected before an erasure may be noted after it, so its offset is irrelevant.
    private func erased(_ request: Request, user: UInt64) throws -> Request? {
        guard case .modifyRecords(var body) = request.content else { return nil }
        var isChanged = false
        for index in body.saves.indices {
            let save = body.saves[index]
            guard names.contains(ExactName(text: save.record.name)), save.holdsAnything,
                let zone = request.names.zone(save.record.zone),
                targets.contains(where: { $0.isNamed(save.record.name, in: zone, of: request.database, by: user) })
            else { continue }
            body.saves[index].fields = []
            (body.saves[index].parent, body.saves[index].share) = (.kept, .kept)
            isChanged = true
        }
        return isChanged ? Request(database: request.database, names: request.names, .modifyRecords(body)) : nil
    }
}

extension RecordEraser.Target {
    fileprivate var isPublic: Bool { database.scope == .public }

    /// Returns true if a user's request names this record, however it denotes the owner: by its database, by its zone,
    /// or not at all, and in the private or the shared database.
    fileprivate func isNamed(_ name: String, in zone: ZoneID, of database: DatabaseID, by user: UInt64) -> Bool {
        guard isSameText(name, record.name), isSameText(zone.name, self.zone),
            isPublic == (database.scope == .public)
        else { return false }
        if isPublic || user == ownerOrdinal { return true }
        return [database.owner, zone.owner].contains { written in
            ownerNames.contains { isSameText($0, written) }
        }
    }
}

extension ModifyRecordsRequest.Save {
    fileprivate var holdsAnything: Bool { !fields.isEmpty || parent != .kept || share != .kept }
}
