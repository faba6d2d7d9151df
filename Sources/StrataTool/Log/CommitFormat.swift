import StrataLog
import StrataModel

/// A decoded payload, or the reason why decoding failed.
typealias DecodedEnvelope = Result<Envelope, StrataError>

/// A way to print commits.
protocol CommitFormat {
    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws
}

extension Commit {
    /// The decoded payload, or the reason why it cannot be decoded.
    var decoded: DecodedEnvelope {
        Result { try Envelope(decoding: payload) }.mapError { error in
            error as? StrataError ?? StrataError(.malformed, "The payload cannot be decoded.", cause: error)
        }
    }
}

/// The details to print of a commit's events.
enum CommitBody {
    case events
    /// The number of events of each kind, and of changes in each zone.
    case stat
    /// The events of records with their changes.
    case patch(CommitPatch)
}

/// One line for each commit.
struct CommitLine: CommitFormat {
    /// The details to print below the line. Plain events are not printed.
    var body = CommitBody.events

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        output.write(decimal: commit.offset)
        output.write(" " as StaticString)
        output.write(Timestamp(microseconds: commit.time))
        output.write(" " as StaticString)
        switch envelope {
        case .failure(let error): output.write("malformed payload: \(Printable.escaped(error.description))")
        case .success(let envelope):
            output.writeActor(of: envelope.header, names)
            output.write("  " as StaticString)
            output.writeOperation(of: envelope.header)
            output.write(": " as StaticString)
            output.writeKinds(of: envelope.events)
        }
        output.write(", " as StaticString)
        output.writeCount(commit.payload.count, "byte", "bytes")
        try output.endLine()
        guard case .success(let envelope) = envelope else { return }
        switch body {
        case .events: break
        case .stat: try CommitStat(envelope, byteCount: commit.payload.count).write(names, to: output)
        case .patch(let patch): try CommitText.write(envelope, of: commit, patch, onlyChanges: true, names, to: output)
        }
    }
}

/// A paragraph for each commit, with a line for each event or the requested details instead.
struct CommitText: CommitFormat {
    var body = CommitBody.events

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        output.write("commit \(commit.offset)", .heading)
        output.write("  " as StaticString)
        output.write(Timestamp(microseconds: commit.time))
        output.write("  chain " as StaticString)
        output.write(hexadecimal: commit.chain)
        output.write("  id \(commit.id)\n    ")
        switch envelope {
        case .failure(let error):
            output.write("malformed payload: \(Printable.escaped(error.description)), ")
            output.writeCount(commit.payload.count, "byte", "bytes")
            output.write("\n" as StaticString)
        case .success(let envelope):
            writeHeader(of: envelope, payloadBytes: commit.payload.count, names, to: output)
            switch body {
            case .events: try Self.write(envelope.events, names, to: output)
            case .stat: try CommitStat(envelope, byteCount: commit.payload.count).write(names, to: output)
            case .patch(let patch): try Self.write(envelope, of: commit, patch, names, to: output)
            }
        }
        try output.endLine()
    }

    private func writeHeader(of envelope: Envelope, payloadBytes: Int, _ names: KnownNames, to output: Output) {
        let header = envelope.header
        output.writeActor(of: header, names)
        output.write(", " as StaticString)
        output.writeOperation(of: header)
        if header.qualityOfService != .default { output.write(", \(header.qualityOfService)") }
        if header.isLazy { output.write(", lazy" as StaticString) }
        output.write(", " as StaticString)
        output.writeCount(envelope.events.count, "event", "events")
        output.write(", " as StaticString)
        output.writeCount(payloadBytes, "byte", "bytes")
        output.write("\n" as StaticString)
        output.writeOperationTexts(of: header)
    }

    /// Prints a line for each event.
    static func write(_ events: [Event], _ names: KnownNames, to output: Output) throws {
        for event in events { write(event, names, to: output) }
    }

    /// - Parameter onlyChanges: omits the events that are not of records.
    fileprivate static func write(
        _ envelope: Envelope, of commit: Commit, _ patch: CommitPatch, onlyChanges: Bool = false, _ names: KnownNames,
        to output: Output
    ) throws {
        for (index, event) in envelope.events.enumerated() {
            let step = patch.step(of: event, at: index, in: commit, envelope.header, names)
            if step != nil || !onlyChanges { write(event, names, to: output) }
            if let step { try CommitPatchText.write(step, indentation: 8, names, to: output) }
        }
    }

    private static func write(_ event: Event, _ names: KnownNames, to output: Output) {
        let kind = event.kind.description
        output.write("    " + kind.padded(to: 15, separation: 0))
        switch EventDetail(event) {
        case .interned(let interned): output.write("  \(text(of: interned))")
        case .saved(let place, let save):
            output.write("  \(text(of: place, names))  \(text(of: save))")
        case .deleted(let place, let deleted):
            output.write("  \(text(of: place, names))")
            if let previous = deleted.previous { output.write("  of \(previous.tag)") }
            if deleted.isCascade { output.write(", cascade" as StaticString) }
        case .erased(let place, let erased):
            output.write("  \(text(of: place, names))")
            if let previous = erased.previous { output.write("  of \(previous.tag)") }
            if !erased.reason.isEmpty { output.write(": \(Printable.escaped(erased.reason))") }
        case .zoneSaved(let saved): output.write("  \(names.shownZone(saved.zone))")
        case .zoneDeleted(let deleted):
            output.write("  \(names.shownZone(deleted.zone))  \(deleted.reason.name)")
        case .schemaChanged(let changed): output.write("  \(text(of: changed, names))")
        case .subscriptionSaved(let saved): output.write("  \(text(of: saved, names))")
        case .subscriptionDeleted(let deleted):
            output.write("  \(Printable.escaped(deleted.id)) of \(names.shownUser(deleted.user))")
            if let event = deleted.firedBy { output.write(", fired once, by \(event.tag)") }
        case .userChanged(let changed): output.write("  \(text(of: changed, names))")
        case .notificationDelivered(let delivered): output.write("  \(text(of: delivered, names))")
        case .refused(let refused): output.write("  \(AuditText.text(of: refused))")
        case .fetched(let fetched): output.write("  \(AuditText.text(of: fetched))")
        case .consoleActed(let note): output.write("  \(AuditText.text(of: note))")
        case .nothingToDelete(let event): output.write("  \(AuditText.text(of: event))")
        case .shareSaved(let share): output.write("  \(text(of: share, names))")
        case .memberChanged(let member): output.write("  \(text(of: member, names))")
        case .sharedRecord(let shared): output.write("  \(text(of: shared, names))")
        case .userRecordNamed(let named):
            output.write("  \(Printable.escaped(named.recordName)) of \(names.shownUser(named.user))")
        case .secretDrawn(let drawn): output.write("  secret \(drawn.number)")
        case .opaque: break
        case .malformed(let error): output.write("  malformed: \(Printable.escaped(error.description))")
        }
        output.write("  (" as StaticString)
        output.writeCount(event.body.count, "byte", "bytes")
        output.write(")\n" as StaticString)
    }

    private static func text(of place: EventDetail.Place, _ names: KnownNames) -> String {
        "\(names.shownZone(place.zone)) / \(names.shownType(place.type)) / \(Printable.escaped(place.name))"
    }

    /// `update of mh35, 2 fields, 1 removed`.
    private static func text(of save: EventDetail.Save) -> String {
        let removed = save.fields.count { $0.kind == nil }
        let sent = save.fields.count - removed
        var text = save.change.name
        if let previous = save.previous { text += " of \(previous.tag)" }
        if save.isFull, save.change != .create { text += ", full" }
        if sent > 0 { text += sent == 1 ? ", 1 field" : ", \(sent) fields" }
        if removed > 0 { text += ", \(removed) removed" }
        if save.isErased { text += ", erased later" }
        return text
    }

    /// `Note: title STRING QUERYABLE, secret ENCRYPTED BYTES; WRITE TO _creator`.
    private static func text(of changed: SchemaChangedEvent, _ names: KnownNames) -> String {
        let fields = changed.fields.map { field in
            names.shownField(UInt64(field.field)) + " "
                + field.kind.schemaDeclaration(isEncrypted: field.isEncrypted, indexes: field.indexes)
        }
        let grants = changed.grants.map { "\($0.permissions.schemaNames) TO \(Printable.escaped($0.role))" }
        let said = [fields, grants].filter { !$0.isEmpty }.map { $0.joined(separator: ", ") }
        let type = names.shownType(changed.type)
        return said.isEmpty ? type : type + ": " + said.joined(separator: "; ")
    }

    /// `bargains of anna: query of Book where price < 5, on creation, update`.
    private static func text(of saved: SubscriptionSavedEvent, _ names: KnownNames) -> String {
        let subscription = saved.subscription
        var text = "\(Printable.escaped(subscription.id)) of \(names.shownUser(saved.user)): \(subscription.kind.name)"
        if subscription.recordType != 0 { text += " of \(names.shownType(subscription.recordType))" }
        if subscription.zone != 0 { text += " in \(names.shownZone(subscription.zone))" }
        if !subscription.predicate.isEmpty { text += " where \(Printable.escaped(subscription.predicate))" }
        if !subscription.options.isEmpty { text += ", on \(subscription.options.names.joined(separator: ", "))" }
        return text
    }

    /// `anna: available, quota 5000; given name Anna, e-mail anna@example.com, role Editors`.
    private static func text(of changed: UserChangedEvent, _ names: KnownNames) -> String {
        let quota = changed.quota == 0 ? "" : ", quota \(changed.quota)"
        let person = changed.person.lines.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let account = "\(names.shownUser(changed.user)): \(changed.status.name)\(quota)"
        return person.isEmpty ? account : account + "; " + person
    }

    /// `phone, all up to 12, badge 3`.
    private static func text(of delivered: NotificationDeliveredEvent, _ names: KnownNames) -> String {
        let device = delivered.device == 0 ? "the service itself" : names.shownDevice(delivered.device)
        let badge = delivered.badge == 0 ? "" : ", badge \(delivered.badge)"
        return "\(device), everything up to \(delivered.through)\(badge)"
    }

    /// `Notes / Share-1, share 1 of list, public read only`.
    private static func text(of share: ShareSavedEvent, _ names: KnownNames) -> String {
        var text =
            "\(names.shownZone(share.record.zone)) / \(Printable.escaped(share.record.name)), share \(share.share) of "
        text += share.root.map { Printable.escaped($0) } ?? "the whole zone"
        if share.isEnded { return text + ", ended" }
        if share.publicPermission != .none { text += ", public \(share.publicPermission.name)" }
        return share.oneTimeTokens.isEmpty ? text : text + ", \(share.oneTimeTokens.count.counted("one-time URL"))"
    }

    /// `ben joined share 1 in Notes: private user, read and write`.
    private static func text(of member: MemberChangedEvent, _ names: KnownNames) -> String {
        let place = "share \(member.share) in \(names.shownZone(member.zone))"
        if member.isGone { return "\(names.shownUser(member.user)) left \(place)" }
        let verb = member.joined == nil ? "joined" : "is still in"
        return "\(names.shownUser(member.user)) \(verb) \(place): \(member.role.name), \(member.permission.name)"
    }

    /// `Notes / Note / milk  under share 1`.
    private static func text(of shared: SharedRecordEvent, _ names: KnownNames) -> String {
        let place = "\(names.shownZone(shared.record.zone)) / \(names.shownType(shared.type))"
        let relation = shared.isGone ? "no longer under" : "under"
        return "\(place) / \(Printable.escaped(shared.record.name))  \(relation) share \(shared.share)"
    }

    private static func text(of interned: InternedName) -> String {
        let place = "\(interned.name.namespace.noun) \(interned.ordinal)"
        return switch interned.name {
        case .user(let text), .recordType(let text), .field(let text): "\(place) = \(Printable.escaped(text))"
        case .device(let user, let text): "\(place) = \(Printable.escaped(text)) of user \(user)"
        case .database(let scope, let owner): "\(place) = \(scope.name)" + (owner == 0 ? "" : " of user \(owner)")
        case .zone(let database, let owner, let text):
            "\(place) = \(Printable.escaped(text)) in database \(database) of user \(owner)"
        }
    }
}

/// Counts the records, zones and bytes of a commit.
private struct CommitStat {
    private let envelope: Envelope
    private let byteCount: Int
    /// The number of changes in each zone, in order of first appearance.
    private var zones: [(zone: UInt64, count: Int)] = []
    private var records: Set<RecordKey> = []

    init(_ envelope: Envelope, byteCount: Int) {
        self.envelope = envelope
        self.byteCount = byteCount
        for event in envelope.events where LogFilter.changeKinds.contains(event.kind) { count(event) }
    }

    private mutating func count(_ event: Event) {
        let zone: UInt64
        if event.kind.isOfRecord {
            guard let place = try? EventDetail.Place(event) else { return }
            records.insert(RecordKey(zone: place.zone, name: place.name))
            zone = place.zone
        } else {
            switch EventDetail(event) {
            case .zoneSaved(let saved): zone = saved.zone
            case .zoneDeleted(let deleted): zone = deleted.zone
            default: return
            }
        }
        if let index = zones.firstIndex(where: { $0.zone == zone }) {
            zones[index].count += 1
        } else {
            zones.append((zone, 1))
        }
    }

    func write(_ names: KnownNames, to output: Output) throws {
        output.write("    events   " as StaticString)
        output.writeKinds(of: envelope.events)
        output.write("\n    zones    " as StaticString)
        let texts = zones.map { "\(names.shownZone($0.zone)) (\($0.count))" }
        output.write(texts.isEmpty ? "none" : texts.joined(separator: ", "))
        try output.writeLine("\n    records  \(records.count)\n    bytes    \(byteCount)")
    }
}

extension Output {
    fileprivate func writeCount(_ count: Int, _ one: StaticString, _ many: StaticString) {
        write(decimal: UInt64(count))
        write(" " as StaticString)
        write(count == 1 ? one : many)
    }

    func writeActor(of header: EnvelopeHeader, _ names: KnownNames) {
        write(names.actorText(header.user, header.device))
    }

    func writeOperation(of header: EnvelopeHeader) {
        switch header.operationKind {
        case .none: write("no operation" as StaticString)
        case .modifyRecords: write("modify records" as StaticString)
        case let kind: write(kind.description)
        }
    }

    /// Writes a line for the operation's id and one for its group, if there are any.
    func writeOperationTexts(of header: EnvelopeHeader) {
        if !header.operationID.isEmpty { write("    operation \(Printable.escaped(header.operationID))\n") }
        if !header.groupID.isEmpty || !header.groupName.isEmpty {
            write("    group \(Printable.escaped(header.groupID)) \(Printable.escaped(header.groupName))\n")
        }
    }

    /// `2 record saved, 1 name interned`, in order of first appearance.
    fileprivate func writeKinds(of events: [Event]) {
        var counts: [(kind: EventKind, count: UInt64)] = []
        for event in events {
            if let index = counts.firstIndex(where: { $0.kind == event.kind }) {
                counts[index].count += 1
            } else {
                counts.append((event.kind, 1))
            }
        }
        for (index, entry) in counts.enumerated() {
            if index > 0 { write(", " as StaticString) }
            write(decimal: entry.count)
            write(" " as StaticString)
            write(entry.kind == .recordSaved ? "record saved" : entry.kind.description)
        }
    }
}
