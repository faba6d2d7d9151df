import StrataModel
import StrataQuery
import StrataSystem
import StrataViews

/// A predicate over the fields that a record event sets.
struct LogFilterCondition: Sendable {
    static let argument = "--where"

    let predicate: PredicateTree
    /// Seconds since 2001, for `now()`.
    let now: Double
    /// The first comparison that can never hold for the values of a save.
    private let misfit = Lock<UsageError?>(nil)

    init(_ predicate: PredicateTree) {
        self.predicate = predicate
        now = EngineDate.seconds(SystemTime().nowMicroseconds())
    }

    /// Throws the error for a comparison that could not hold for a save.
    func requireFit() throws {
        if let misfit = misfit.withLock({ $0 }) { throw misfit }
    }

    /// - Parameter time: the time of the commit.
    /// - Throws: ``StrataError`` if the event cannot be decoded, or a regular expression takes too many steps.
    func holds(for event: Event, of header: EnvelopeHeader, at time: Int64, _ names: KnownNames) throws -> Bool {
        guard event.kind == .recordSaved else { return false }
        let saved = try RecordSavedEvent(decoding: event.body)
        // An erased save has no values left.
        if saved.isErased { return false }
        let fields = LogFilterFields(saved: saved, header: header, time: time, names: names)
        do {
            let fitted = try fields.fitting.fit(predicate)
            return try PredicateEvaluator(subject: fields, now: now).holds(fitted)
        } catch let error as UsageError {
            // A key may have values of another kind in another record type.
            misfit.withLock { $0 = $0 ?? error }
            return false
        }
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
        return value(forKey: key).map(value)
    }

    /// The value that the save sets for a field.
    private func value(forKey key: String) -> FieldValue? {
        saved.fields.first { LogFilter.isSame(names.field(UInt64($0.field)), key) }?.value
    }

    /// Fits constants to the values of this save.
    var fitting: PredicateFitting {
        PredicateFitting(
            kinds: { key in
                if let field = SystemField(key) { return [field.kind] }
                return value(forKey: key).map { [$0.kind] } ?? []
            },
            targets: { name, key in
                let user = names.names(in: .user).first { LogFilter.isSame($0, name) }
                if SystemField(key)?.isUser == true {
                    return [.init(recordName: user ?? name, zoneName: ZoneID.defaultName, ownerName: "")]
                }
                let value = predicateValue(forKey: key)
                var zones = Set((value?.elements ?? [value].compactMap(\.self)).compactMap(\.target?.zoneName))
                if zones.isEmpty { zones.insert(names.zone(saved.record.zone) ?? "") }
                return zones.sorted().map { PredicateValue.Target(recordName: name, zoneName: $0, ownerName: "") }
            },
            argument: LogFilterCondition.argument)
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

extension PredicateValue {
    fileprivate var target: Target? { if case .reference(let target) = self { target } else { nil } }
}
