import StrataModel
import StrataReplay
import StrataViews

/// Writes what a commit did to records and zones, or which items of a request were refused, for one line:
/// `~ Notes/milk rank, due; + Notes/tea title; and 3 more`, `- Notes/milk`, `! 14 milk`.
///
/// Values are not decoded, and names are written from where they are: a log has many lines.
struct CommitSummary {
    private static let maximumItems = 2
    private static let maximumFields = 6

    private let names: KnownNames
    private let output: Output
    private var count = 0
    /// True if the commit is its user's first one, which also creates the default zone and the user's record.
    private var createsDatabase = false

    /// Returns false for a commit that has none of these, of which it writes nothing.
    static func write(_ envelope: Envelope, _ names: KnownNames, to output: Output) -> Bool {
        var summary = CommitSummary(names: names, output: output)
        for event in envelope.events {
            // The full form of the log has the reason why an event cannot be decoded.
            try? summary.add(event, envelope.header)
        }
        summary.finish()
        return summary.count > 0
    }

    private init(names: KnownNames, output: Output) { (self.names, self.output) = (names, output) }

    private mutating func add(_ event: Event, _ header: EnvelopeHeader) throws {
        switch event.kind {
        case .recordSaved: try event.body.withUnsafeBytes { try add(RecordSavedView($0, in: 0..<$0.count), $0) }
        case .recordDeleted, .recordErased:
            try event.body.withUnsafeBytes { bytes in
                let record = try RecordEvent(event.kind, bytes)
                if begin("- ") { write(record.zone, record.nameBytes) }
            }
        case .databaseCreated: createsDatabase = true
        case .zoneSaved:
            let saved = try ZoneSavedEvent(decoding: event.body)
            if createsDatabase, LogFilter.isSame(names.zone(saved.zone), ZoneID.defaultName) { return }
            if begin(saved.incarnation == nil ? "+ " : "~ ") { output.write("zone \(names.shownZone(saved.zone))") }
        case .zoneDeleted:
            let deleted = try ZoneDeletedEvent(decoding: event.body)
            if begin("- ") { output.write("zone \(names.shownZone(deleted.zone))") }
        case .requestRefused: add(try RequestRefusedEvent(decoding: event.body), header)
        default: break
        }
    }

    private mutating func finish() {
        let rest = count - Self.maximumItems
        if rest > 0 { output.write("; and \(rest) more") }
    }

    /// Returns true for an item that is to be written.
    private mutating func begin(_ mark: StaticString) -> Bool {
        count += 1
        guard count <= Self.maximumItems else { return false }
        output.write(count == 1 ? "  " : "; " as StaticString)
        output.write(mark)
        return true
    }

    // MARK: Records

    private mutating func add(_ save: RecordSavedView, _ bytes: UnsafeRawBufferPointer) throws {
        if save.change == .touch { return }
        let isNew = save.change == .create
        if isNew, createsDatabase, LogFilter.isSame(names.recordType(save.type), UserRecord.type) { return }
        let (fields, links) = (try save.fields, try save.changedLinks)
        guard begin(isNew ? "+ " : "~ ") else { return }
        write(save.zone, UnsafeRawBufferPointer(rebasing: bytes[save.name]))
        // A full event has all fields, and which of them changed only an earlier commit says.
        if save.isFull, !isNew { return output.write(" full, \(fields.count.counted("field"))") }
        if links.parent { output.write(" parent" as StaticString) }
        if links.share { output.write(links.parent ? ", share" : " share" as StaticString) }
        var isFirst = !links.parent && !links.share
        for index in 0..<min(fields.count, Self.maximumFields) {
            output.write(isFirst ? " " : ", " as StaticString)
            output.write(names.shownField(UInt64(fields.ordinal(at: index))))
            isFirst = false
        }
        if fields.count > Self.maximumFields { output.write(", …" as StaticString) }
    }

    private func write(_ zone: UInt64, _ name: UnsafeRawBufferPointer) {
        output.write(names.shownZone(zone))
        output.write("/" as StaticString)
        if name.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return output.write(name) }
        output.write(Printable.escaped(String(decoding: name, as: UTF8.self)))
    }

    // MARK: Refusals

    private mutating func add(_ refused: RequestRefusedEvent, _ header: EnvelopeHeader) {
        let request = refused.kept.bytes.flatMap { try? Request(decoding: $0[...]) }
        func name(_ item: RequestItem?) -> String? {
            item.flatMap { $0.name ?? $0.zone.flatMap { request?.names.zone($0)?.name } }
        }
        for culprit in refused.culprits where begin("! ") {
            let list: RequestShape.List = culprit.list == .saves ? .saves : .deletes
            let found = name(request?.item(list, Int(clamping: culprit.index)))
            write(culprit.code, found ?? "\(culprit.list) \(culprit.index)")
        }
        guard refused.culprits.isEmpty else { return }
        let items = request?.items.compactMap { name($0) } ?? []
        for item in items where begin("! ") { write(refused.code, item) }
        if items.isEmpty, begin("! ") { write(refused.code, header.operationKind.description) }
    }

    private func write(_ code: UInt64, _ name: String) {
        output.write(decimal: code)
        output.write(" " as StaticString)
        output.write(Printable.escaped(name))
    }
}
