import StrataModel
import StrataReplay
import StrataStore

/// Prints the changes that a device has received.
extension DeviceView {
    // MARK: For people

    func write(to output: Output) throws {
        output.write("device ")
        output.write(actor.shownText, .heading)
        try output.writeLine("  at offset \(offset)")
        var lines = [["wrote first", firstSeen.map { "commit \($0)" } ?? "never"]]
        lines.append(["wrote last", lastCommit.map { "commit \($0)" } ?? "no existing commit"])
        if account != .available { lines.append(["account", "\(account)"]) }
        lines.append(["notified", toldThrough.map { "up to \($0), badge \(badge ?? 0)" } ?? "not recorded"])
        lines.append(["fetches", "\(fetchCount) recorded, of \(allFetchCount) of all devices"])
        try Columns.write(lines, indentation: 4, to: output)
        for database in databases {
            output.write("zones of \(database.database.shownText)  \(Self.text(of: database.given))")
            try output.writeLine("; \(database.zonesBehind) changed since")
        }
        for zone in zones {
            output.write("zone \(zone.database.shownText), \(Printable.escaped(zone.zone.name))")
            output.write((zone.sharedBy.map { " of \(Printable.escaped($0))" } ?? "") + "  ")
            if !zone.isThere { output.write("does not exist; ") }
            output.write(zone.given.map { Self.text(of: $0) } ?? "no fetch of its changes is recorded")
            if let count = zone.changesBehind { output.write("; \(count.counted("change")) behind") }
            if let token = zone.lastClientToken { output.write("; its last client token came with commit \(token)") }
            try output.endLine()
        }
        if let record { try write(record, to: output) }
        for note in notes {
            try output.writeLine("note: " + note)
        }
    }

    private static func text(of given: DeviceView.Given) -> String {
        var text = "given up to \(given.offset)"
        if !given.isWhole { text += ", not to the end" }
        text += " by the fetch recorded at \(given.audit)"
        if given.moreComing { text += ", with more to come" }
        if let refusal = given.refusal { text += "; its token is refused: \(Printable.escaped(refusal.message))" }
        return text
    }

    private func write(_ record: DeviceView.RecordKnowledge, to output: Output) throws {
        let place = "\(Printable.escaped(record.id.zone.name))/\(Printable.escaped(record.id.name))"
        output.write("record \(place) of \(record.database.shownText)  ")
        try output.writeLine(record.verdict.text(record.audit), record.verdict.isKnown ? .added : .removed)
        var lines: [[String]] = []
        if let version = record.version, let time = record.time {
            let maker = record.madeBy.map { ", " + $0.shownText } ?? ""
            let what = record.isDeleted ? "deleted by" : "made by"
            lines.append([what, "commit \(version.offset), \(Timestamp(microseconds: time).description)\(maker)"])
        }
        if let refusal = record.refusal { lines.append(["refused", Printable.escaped(refusal.message)]) }
        if let save = record.lastSave {
            let base = record.lastSaveBase.map { "when it had \($0.tag)" } ?? "without a tag"
            lines.append(["its own save", "commit \(save.offset), \(base)"])
        }
        if !lines.isEmpty { try Columns.write(lines, indentation: 4, to: output) }
    }
}

extension DeviceView: Shaped {
    static let shape = Shape<Self>("What a device knew") {
        Key("offset", "of the state") { $0.offset }
        Key("userName", "the user whose device it is") { $0.actor.user }
        Key("deviceName", "its name") { $0.actor.device }
        Key("firstSeen", "offset of the first commit that it wrote", if: "if there is one") { $0.firstSeen }
        Key("lastCommit", "offset of its last commit, not counting audits", if: "if there is one") { $0.lastCommit }
        Key("account", "status of the user's account") { "\($0.account)" }
        Key("toldThrough", "offset up to which it was notified", if: "if noted") { $0.toldThrough }
        Key("badge", "the number on its badge", if: "if noted") { $0.badge }
        Key("fetches", "how many of its fetches are in the log") { $0.fetchCount }
        Key("allFetches", "how many of all devices") { $0.allFetchCount }
        Key("databases", "the databases whose changes it fetched", each: database) { $0.databases }
        Key("zones", "the zones that it may fetch", each: zone) { $0.zones }
        Key("record", "its knowledge of the record", if: "with `--record`") { $0.record }
        Key("notes", "the parts that cannot be known, in words") { $0.notes }
    }

    private static let database = Shape<Database>("A database of a device") {
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("given", "the newest token that the device received", as: given) { $0.given }
        Key("zonesBehind", "how many zones have changed since") { $0.zonesBehind }
    }

    private static let zone = Shape<Zone>("A zone of a device") {
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("zoneName", "its name") { $0.zone.name }
        Key("sharedBy", "name of the zone's owner", if: "in the shared database") { $0.sharedBy }
        Key("there", "true if it exists") { $0.isThere }
        Key("given", "the newest token that the device received", as: given, if: "if known") { $0.given }
        Key("changesBehind", "how many changes came after it", if: "if known") { $0.changesBehind }
        Key("lastClientToken", "offset of the last commit that came with one", if: "if known") { $0.lastClientToken }
    }

    private static let given = Shape<Given>("A token that a device was given") {
        Key("audit", "the offset where that is noted") { $0.audit }
        Key("time", "when") { $0.time }
        Key("offset", "up to which it goes") { $0.offset }
        Key("whole", "true if everything up to there was returned") { $0.isWhole }
        Key("moreComing", "true if there were more results") { $0.moreComing }
        Key("reason", "why it would be refused", if: "if so") { $0.refusal?.message }
    }
}

extension DeviceView.RecordKnowledge: Shaped {
    static let shape = Shape<Self>("What a device knows of a record") {
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("zoneName", "its zone") { $0.id.zone.name }
        Key("record", "its name") { $0.id.name }
        Key(
            "verdict",
            "`madeIt`, `given`, `accountUnavailable`, `tokenRefused`, `notFetchedSince`, `fetchedElsewhere`, "
                + "`noFetchNoted`, `neverThere`, `notKnown`"
        ) { $0.verdict.rawValue }
        Key("changeTag", "of its state", if: "if there is one") { $0.version }
        Key("offset", "of the commit that made this state", if: "if there is one") { $0.version?.offset }
        Key("time", "when", if: "if there is one") { $0.time }
        Key("userName", "the user who made it", if: "if there is one") { $0.madeBy?.user }
        Key("deviceName", "the device that made it", if: "if there is one") { $0.madeBy?.device }
        Key("deleted", "true if that was a deletion") { $0.isDeleted }
        Key(
            "audit", "offset of the fetch that returned it, or of the last that could have",
            if: "if there is one"
        ) { $0.audit }
        Key("reason", "why the device's token would be refused", if: "`tokenRefused`") { $0.refusal?.message }
        Key("lastSave", "of the device's own last save", if: "if there is one") { $0.lastSave }
        Key("lastSaveBase", "that this save named", if: "if it did") { $0.lastSaveBase }
    }
}

extension DeviceView.RecordKnowledge.Verdict {
    fileprivate var isKnown: Bool { self == .madeIt || self == .given }

    /// - Parameter audit: the offset of the fetch in question.
    fileprivate func text(_ audit: UInt64?) -> String {
        let fetch = audit.map { "the fetch recorded at \($0)" } ?? "a fetch"
        return switch self {
        case .madeIt: "known: the device made the change itself"
        case .given: "known: given by \(fetch)"
        case .accountUnavailable: "not known: the user's account is not available, so the device is refused"
        case .tokenRefused: "not known: the token that the device has is refused"
        case .notFetchedSince: "not known: the device has not fetched it since; the last was \(fetch)"
        case .fetchedElsewhere: "not known: the device has fetched nothing of this zone"
        case .noFetchNoted: "cannot be determined: the log has no fetch of the device"
        case .neverThere: "there is no such record, and never was"
        case .notKnown: "cannot be determined: the history of the record was compacted, or was deleted with its zone"
        }
    }
}
