import StrataLog
import StrataModel
import StrataQuery

/// Decides which commits `strata log` prints.
///
/// A commit is printed if its header fits, and one of its events fits every condition.
struct LogFilter: Sendable {
    enum Outcome: String, Sendable, CaseIterable {
        case committed, refused, all
    }

    enum Verdict {
        case fits, doesNotFit
        /// Nothing fits, but an event that cannot be decoded might.
        case cannotTell
    }

    /// The name printed for commits without a user.
    static let systemName = "system"

    // Conditions on the header. Nil matches any value, here and below.
    var user: String?
    var device: String?
    /// Id or name of the operation group.
    var group: String?

    // Conditions on an event.
    /// Empty matches any kind.
    var kinds: Set<EventKind> = []
    var outcome: Outcome?
    var scope: InternedName.Scope?
    var owner: String?
    var zone: String?
    var record: String?
    var type: String?
    var condition: LogFilterCondition?

    var asksHeaders: Bool { user != nil || device != nil || group != nil }
    var asksPlaces: Bool { scope != nil || owner != nil || zone != nil || record != nil || type != nil }
    var asksEvents: Bool { !kinds.isEmpty || (outcome ?? .all) != .all || asksPlaces || condition != nil }
    var isEmpty: Bool { !asksHeaders && !asksEvents }

    /// The kinds of events that change lists contain.
    static let changeKinds: Set<EventKind> = [
        .recordSaved, .recordDeleted, .recordErased, .zoneSaved, .zoneDeleted,
    ]

    /// True if only changes of zones or records are requested, which change lists contain.
    var asksChangesOnly: Bool {
        guard zone != nil || record != nil else { return false }
        if !kinds.isEmpty { return kinds.isSubset(of: Self.changeKinds) }
        return outcome == nil || outcome == .committed
    }

    // MARK: Commits

    func judge(_ envelope: DecodedEnvelope, at time: Int64, _ names: KnownNames) -> Verdict {
        if isEmpty { return .fits }
        guard case .success(let envelope) = envelope else { return .cannotTell }
        let isByActor = fits(envelope.header, names)
        let isNote = envelope.header.operationKind == .console
        guard isByActor || isNote else { return .doesNotFit }
        if isByActor, !asksEvents { return .fits }
        var isUnsure = false
        for event in envelope.events where isByActor || isNoteAboutActor(event) {
            guard asksEvents else { return .fits }
            switch judge(event, of: envelope.header, at: time, names) {
            case .fits: return .fits
            case .doesNotFit: continue
            case .cannotTell: isUnsure = true
            }
        }
        return isUnsure ? .cannotTell : .doesNotFit
    }

    private func fits(_ header: EnvelopeHeader, _ names: KnownNames) -> Bool {
        if let user {
            let isSystem = Self.isSame(header.unnamedActorText, Self.systemName) && Self.isSame(user, Self.systemName)
            guard isSystem || Self.isSame(names.user(header.user), user) else { return false }
        }
        if let device, !Self.isSame(names.device(header.device), device) { return false }
        if let group { return Self.isSame(header.groupID, group) || Self.isSame(header.groupName, group) }
        return true
    }

    /// Returns true for what the console did to the requests of the wanted user or device.
    private func isNoteAboutActor(_ event: Event) -> Bool {
        guard group == nil, user != nil || device != nil, let note = Self.note(event) else { return false }
        return (user.map { Self.isSame(note.user, $0) } ?? true)
            && (device.map { Self.isSame(note.device, $0) } ?? true)
    }

    private static func note(_ event: Event) -> ConsoleNote? {
        guard event.kind == .consoleActed else { return nil }
        return (try? ConsoleActedEvent(decoding: event.body))?.note
    }

    // MARK: Events

    func judge(_ event: Event, of header: EnvelopeHeader, at time: Int64, _ names: KnownNames) -> Verdict {
        guard kinds.isEmpty || kinds.contains(event.kind), fits(outcomeOf: event) else { return .doesNotFit }
        guard asksPlaces || condition != nil else { return .fits }
        // By default only changes of zones and records fit, not audits.
        if asksChangesOnly, !Self.changeKinds.contains(event.kind) { return .doesNotFit }
        do {
            if asksPlaces, try !fits(placesOf: event, header, names) { return .doesNotFit }
            guard let condition else { return .fits }
            return try condition.holds(for: event, of: header, at: time, names) ? .fits : .doesNotFit
        } catch { return .cannotTell }
    }

    private func fits(outcomeOf event: Event) -> Bool {
        switch outcome ?? .all {
        case .all: true
        // A device gets the failures that the console injects, too.
        case .refused: event.kind == .requestRefused || Self.note(event)?.device.isEmpty == false
        case .committed: event.kind != .requestRefused
        }
    }

    /// Compares names byte by byte, without Unicode normalization.
    static func isSame(_ left: String?, _ right: String) -> Bool {
        left.map { $0.utf8.elementsEqual(right.utf8) } ?? false
    }

    // MARK: Change lists

    /// The maximum number of lists read side by side; with more, all commits are read.
    private static let maximumLists = 64

    /// Returns the change lists that contain every commit that may fit; nil if all commits must be checked.
    func subject(_ names: KnownNames) -> TouchedCommits.Subject? {
        guard asksChangesOnly else { return nil }
        let zones = zones(names)
        guard zones.count <= Self.maximumLists else { return nil }
        return record.map { .record($0, zones: zones) } ?? .zones(zones)
    }

    /// Returns the zones in which a change may fit.
    func zones(_ names: KnownNames) -> [UInt64] {
        names.zones.filter { found in
            (zone.map { Self.isSame(found.name, $0) } ?? true)
                && fits(database: names.database(ofZone: found.ordinal), names)
        }.map(\.ordinal)
    }

    func fits(database ordinal: UInt64?, _ names: KnownNames) -> Bool {
        if scope == nil, owner == nil { return true }
        return ordinal.flatMap { names.database($0) }.map { fits($0) } ?? false
    }

    func fits(_ database: DatabaseID) -> Bool {
        (scope.map { $0 == database.scope } ?? true) && (owner.map { Self.isSame(database.owner, $0) } ?? true)
    }

    // MARK: Names

    /// Returns a message for the first requested name that nothing has; nil if all are known.
    func unknownName(_ names: KnownNames) -> String? {
        let named =
            names.problem("user", user, .user, others: [Self.systemName]) ?? names.problem("user", owner, .user)
            ?? names.problem("device", device, .device) ?? names.problem("zone", zone, .zone)
            ?? names.problem("record type", type, .recordType)
        if let named { return named }
        for path in condition?.predicate.namedKeys ?? [] {
            // The rest of the path names a field of another record, or a number derived from the field.
            let field = String(path.prefix { $0 != "." })
            if SystemField(field) == nil, let problem = names.problem("field", field, .field) { return problem }
        }
        return nil
    }
}
