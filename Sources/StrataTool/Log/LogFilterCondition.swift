import StrataModel
import StrataQuery
import StrataSystem

/// A predicate over the fields that a record event sets.
struct LogFilterCondition: Sendable {
    let predicate: PredicateTree
    /// Seconds since 2001, for `now()`.
    let now: Double

    init(_ predicate: PredicateTree) {
        self.predicate = predicate
        now = EngineDate.seconds(SystemTime().nowMicroseconds())
    }

    /// - Parameter time: the time of the commit.
    /// - Throws: ``StrataError`` if the event cannot be decoded, or a regular expression takes too many steps.
    func holds(for event: Event, of header: EnvelopeHeader, at time: Int64, _ names: KnownNames) throws -> Bool {
        guard event.kind == .recordSaved else { return false }
        let saved = try RecordSavedEvent(decoding: event.body)
        // An erased save has no values left.
        if saved.isErased { return false }
        let fields = LogFilterFields(saved: saved, header: header, time: time, names: names)
        return try PredicateEvaluator(subject: fields, now: now).holds(predicate)
    }
}

/// The fields that a save sets, as the subject of a predicate. Keys that it removes have no value.
private struct LogFilterFields: PredicateSubject {
    let saved: RecordSavedEvent
    let header: EnvelopeHeader
    let time: Int64
    let names: KnownNames

    func predicateValue(forKey key: String) -> PredicateValue? {
        if let field = SystemField(key) { return value(of: field) }
        let change = saved.fields.first { LogFilter.isSame(names.field(UInt64($0.field)), key) }
        return change?.value.map(value)
    }

    var searchedTexts: [String] {
        saved.fields.compactMap { change in
            if case .string(let text)? = change.value { text } else { nil }
        }
    }

    private func value(of field: SystemField) -> PredicateValue? {
        switch field {
        case .recordID: reference(to: saved.record)
        case .creationDate:
            (saved.created ?? (saved.change == .create ? saved.modified ?? time : nil)).map {
                .date(EngineDate.seconds($0))
            }
        case .modificationDate: .date(EngineDate.seconds(saved.modified ?? time))
        case .creatorUserRecordID: (saved.createdBy ?? (saved.change == .create ? header.user : nil)).flatMap(user)
        case .lastModifiedUserRecordID: user(saved.modifiedBy ?? header.user)
        case .parent: link(saved.parent)
        case .share: link(saved.share)
        }
    }

    /// Returns the user by name, unlike in a query: a log has no records of users.
    private func user(_ ordinal: UInt64) -> PredicateValue? {
        names.user(ordinal).map { .reference(.init(recordName: $0, zoneName: ZoneID.defaultName, ownerName: "")) }
    }

    private func link(_ change: LinkChange) -> PredicateValue? {
        if case .set(let target) = change { reference(to: target) } else { nil }
    }

    private func reference(to record: RecordKey) -> PredicateValue {
        .reference(.init(recordName: record.name, zoneName: names.zone(record.zone) ?? "", ownerName: ""))
    }

    private func value(_ value: FieldValue) -> PredicateValue {
        switch value {
        case .string(let text): .string(text)
        case .int64(let number): .int64(number)
        case .double(let number): .double(number)
        case .date(let seconds): .date(seconds)
        case .data(let bytes): .data(bytes)
        case .location(let place): .location(latitude: place.latitude, longitude: place.longitude)
        case .reference(let target): reference(to: target.target)
        case .list(let list): .list(list.elements.map { self.value($0) })
        case .asset, .sealed: .opaque
        }
    }
}
