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

/// One line for each commit: what it did to records and zones, or for other commits the numbers of its events.
struct CommitLine: CommitFormat {
    /// The details to print below the line. Plain events are not printed.
    var body = CommitBody.events

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        output.write(decimal: commit.offset)
        output.write(" " as StaticString)
        output.write(Timestamp(microseconds: commit.time))
        output.write(" " as StaticString)
        switch envelope {
        case .failure(let error):
            output.write("malformed payload: \(Printable.escaped(error.description)), ")
            output.writeCount(commit.payload.count, "byte", "bytes")
        case .success(let envelope):
            output.writeActor(of: envelope.header, names)
            if !CommitSummary.write(envelope, names, to: output) {
                writeKinds(of: envelope, byteCount: commit.payload.count, to: output)
            }
        }
        try output.endLine()
        guard case .success(let envelope) = envelope else { return }
        switch body {
        case .events: break
        case .stat: try CommitStat(envelope, byteCount: commit.payload.count).write(names, to: output)
        case .patch(let patch): try CommitText.write(envelope, of: commit, patch, onlyChanges: true, names, to: output)
        }
    }

    private func writeKinds(of envelope: Envelope, byteCount: Int, to output: Output) {
        output.write("  " as StaticString)
        output.writeOperation(of: envelope.header)
        output.write(": " as StaticString)
        output.writeKinds(of: envelope.events)
        output.write(", " as StaticString)
        output.writeCount(byteCount, "byte", "bytes")
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
        do {
            let isSave = event.kind == .recordSaved
            let text = try isSave ? SaveOutline(event.body, names).summary(names) : event.described()?.text(names)
            if let text, !text.isEmpty { output.write("  \(text)") }
        } catch { output.write("  malformed: \(Printable.escaped(EventJSON.reason(error).description))") }
        output.write("  (" as StaticString)
        output.writeCount(event.body.count, "byte", "bytes")
        output.write(")\n" as StaticString)
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
            guard let record = try? event.record().key else { return }
            records.insert(record)
            zone = record.zone
        } else {
            switch try? event.described() {
            case let saved as ZoneSavedEvent: zone = saved.zone
            case let deleted as ZoneDeletedEvent: zone = deleted.zone
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
        write(header.unnamedActorText ?? names.actorText(header.user, header.device))
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

extension EnvelopeHeader {
    /// The words for an actor without an ordinal; nil for a user. Earlier releases named no kind.
    var unnamedActorText: String? {
        guard user == 0 else { return nil }
        return switch actorKind {
        case .service, nil: LogFilter.systemName
        case .signedOut: "not signed in"
        case .user: "user not recorded"
        }
    }
}
