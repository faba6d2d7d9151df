import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Values of a record, by the bytes of their keys.
private typealias KeyedValues = [[UInt8]: FieldValue]

/// Explains a save that was made from another state than the stored one.
extension ExplainedState {
    /// The maximum number of events of a record that are listed.
    private static let maximumChanges = 1_000

    /// Returns nil for a record of an unknown zone.
    ///
    /// - Parameter server: the version that the store had.
    func conflict(of save: ModifyRecordsRequest.Save, _ server: Version) throws -> RecordConflict? {
        guard let zone = request.names.zone(save.record.zone), let ordinal = try ordinal(ofZone: zone.name) else {
            return nil
        }
        let key = RecordKey(zone: ordinal, name: save.record.name)
        let id = RecordID(key.name, zone: ZoneID(zone.name))
        var notes: [String] = []
        let isErased = try newest.isErased(key, after: max(past.offset, newest.log.floor.offset))
        if isErased {
            notes.append("The content of the record and the values sent by the client have been erased since.")
        }
        let (ancestor, old) = try ancestor(of: id, save.base, isErased)
        let stored = try record(id, at: server)
        if stored == nil, !isErased { notes.append("The log no longer has the version that the store had.") }
        let (changes, earlierCount) = try changes(of: key, id, after: save.base, through: server, from: old, ancestor)
        let sent = sentValues(of: save, in: ordinal)
        let current = try stored.map { try values(of: $0) } ?? [:]
        return RecordConflict(
            ancestor: ancestor, base: save.base, server: server, isServerKnown: stored != nil,
            fields: isErased
                ? []
                : fields(
                    from: ancestor.hasValues ? old ?? [:] : nil, sent: sent, current: current, changes: changes),
            changes: changes, earlierChangeCount: earlierCount, notes: notes)
    }

    private func ancestor(
        of id: RecordID, _ base: Version?, _ isErased: Bool
    ) throws -> (RecordConflict.Ancestor, KeyedValues?) {
        guard let base else { return (.none, nil) }
        if isErased { return (.erased, nil) }
        do {
            let record = try snapshot.record(id, at: base, in: database, as: .service)
            return try record.map { (.known, try values(of: $0)) } ?? (.unknown, nil)
        } catch let error as StrataError where error.code == .outOfRange { return (.letGo, nil) }
    }

    /// Returns nil for a version that the log no longer has.
    private func record(_ id: RecordID, at version: Version) throws -> Record? {
        try snapshot.recordIfKept(id, at: version, in: database, as: .service)
    }

    // MARK: Values

    private func values(of record: Record) throws -> KeyedValues {
        var values: KeyedValues = [:]
        try record.forEachField { values[Array($0.utf8)] = $1 }
        if let parent = try record.parent {
            values[Self.parentKey] = Self.link(parent, isLoose: try record.isParentLoose)
        }
        if let share = try record.share { values[Self.shareKey] = Self.link(share) }
        return values
    }

    private static let parentKey = Array("___parent".utf8)
    private static let shareKey = Array("___share".utf8)
    private static func link(_ name: String, isLoose: Bool = false) -> FieldValue {
        var reference = FieldValue.Reference(RecordKey(zone: 0, name: name))
        reference.isLoose = isLoose
        return .reference(reference)
    }

    /// Returns the values that the client sent; nil for a key to remove. References are as the store has them.
    private func sentValues(of save: ModifyRecordsRequest.Save, in zone: UInt64) -> [[UInt8]: FieldValue?] {
        var sent: [[UInt8]: FieldValue?] = [:]
        for change in save.fields {
            guard let key = request.names.key(change.field) else { continue }
            sent[Array(key.utf8)] = .some(change.value.map { placed($0, from: save.record.zone, in: zone) })
        }
        for (key, link) in [(Self.parentKey, save.parent), (Self.shareKey, save.share)] {
            switch link {
            case .kept: break
            case .removed: sent[key] = .some(nil)
            case .set(let target): sent[key] = .some(Self.link(target.name))
            }
        }
        return sent
    }

    private func placed(_ value: FieldValue, from asked: UInt64, in zone: UInt64) -> FieldValue {
        switch value {
        case .reference(let reference) where reference.target.zone == asked:
            .reference(.init(RecordKey(zone: zone, name: reference.target.name), action: reference.action))
        case .list(let list):
            (try? FieldList(list.elements.map { placed($0, from: asked, in: zone) })).map { .list($0) } ?? value
        default: value
        }
    }

    // MARK: Three-way comparison

    /// - Parameter old: the ancestor's values; nil if they are unknown.
    private func fields(
        from old: KeyedValues?, sent: [[UInt8]: FieldValue?], current: KeyedValues, changes: [RecordConflict.Change]
    ) -> [RecordConflict.Field] {
        var keys = Set(sent.keys)
        if let old {
            for key in Set(old.keys).union(current.keys) where !FieldValue.isSame(old[key], current[key]) {
                keys.insert(key)
            }
        } else {
            for key in changes.flatMap({ $0.keys ?? [] }) { keys.insert(Array(key.utf8)) }
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
            let isSent = sent[key] != nil
            let client = isSent ? sent[key] ?? nil : old?[key]
            return RecordConflict.Field(
                key: String(decoding: key, as: UTF8.self), ancestor: old?[key], isSent: isSent, client: client,
                server: current[key],
                side: Self.side(old.map { $0[key] }, isSent ? .some(client) : nil, current[key]))
        }
    }

    /// - Parameters:
    ///   - old: nil if it is unknown.
    ///   - sent: nil if the key was not sent.
    private static func side(
        _ old: FieldValue??, _ sent: FieldValue??, _ server: FieldValue?
    ) -> RecordConflict.Side {
        guard let sent else { return .server }
        guard let old else { return isSame(sent, server) ? .same : .unknown }
        switch (isSame(sent, old), FieldValue.isSame(server, old)) {
        case (true, true): return .unchanged
        case (true, false): return .server
        case (false, true): return .client
        case (false, false): return isSame(sent, server) ? .same : .conflict
        }
    }

    /// Returns true if a sent value equals a stored one. Numbers are equal across kinds; references are equal whether
    /// they are loose or not.
    private static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        switch (left, right) {
        case (.int64(let whole)?, .double(let number)?), (.double(let number)?, .int64(let whole)?):
            Double(whole) == number
        default: left == right
        }
    }

    // MARK: Changes

    private func changes(
        of key: RecordKey, _ id: RecordID, after base: Version?, through server: Version, from old: KeyedValues?,
        _ ancestor: RecordConflict.Ancestor
    ) throws -> (changes: [RecordConflict.Change], earlierCount: Int) {
        var versions: [Version] = []
        let floor = past.log.floor.offset
        let first = max(floor, (base?.offset ?? 1) - 1)
        try past.log.forEachTouch(of: key, after: first, through: server.offset) { touch in
            guard touch.kind == .recordSaved || touch.kind == .recordDeleted else { return }
            let version = Version(offset: touch.offset, eventIndex: touch.eventIndex)
            if version <= server, base.map({ $0 < version }) ?? true { versions.append(version) }
        }
        // Earlier events are only counted.
        let shown = versions.suffix(Self.maximumChanges)
        // An unknown state is nil; a state without the record has no values.
        var before: KeyedValues? = shown.count < versions.count || !ancestor.hasValues ? nil : old ?? [:]
        var changes: [RecordConflict.Change] = []
        for version in shown {
            guard let change = try change(at: version, id, &before) else { continue }
            changes.append(change)
        }
        return (changes, versions.count - shown.count)
    }

    private func change(
        at version: Version, _ id: RecordID, _ before: inout KeyedValues?
    ) throws -> RecordConflict.Change? {
        guard let (event, commit, header) = try past.log.event(at: version) else { return nil }
        var kind = RecordConflict.Change.Kind.saved
        var after: KeyedValues? = [:]
        switch event.kind {
        case .recordErased: kind = .erased
        case .recordDeleted: kind = .deleted
        default:
            let saved = try RecordSavedEvent(decoding: event.body)
            if saved.change == .touch { kind = .tagged }
            if saved.change == .create { before = [:] }
            after = try record(id, at: version).map { try values(of: $0) }
        }
        var keys: [String]?
        if let old = before, let new = after {
            keys = Set(old.keys).union(new.keys).filter { !FieldValue.isSame(old[$0], new[$0]) }
                .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
        }
        before = after
        return RecordConflict.Change(
            version: version, time: commit.time, user: try trees.user(header.user) ?? "",
            device: try trees.device(header.device) ?? "", kind: kind, keys: keys)
    }
}
