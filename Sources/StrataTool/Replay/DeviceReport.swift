import StrataModel
import StrataReplay
import StrataStore

/// Prints the changes that a device has received.
struct DeviceReport {
    private let view: DeviceView

    init(_ view: DeviceView) { self.view = view }

    // MARK: For people

    func write(to output: Output) throws {
        output.write("device ")
        output.write(view.actor.shownText, .heading)
        output.write("  at offset \(view.offset)")
        try output.endLine()
        var lines = [["wrote first", view.firstSeen.map { "commit \($0)" } ?? "never"]]
        lines.append(["wrote last", view.lastCommit.map { "commit \($0)" } ?? "no existing commit"])
        if view.account != .available { lines.append(["account", "\(view.account)"]) }
        lines.append(["notified", view.toldThrough.map { "up to \($0), badge \(view.badge ?? 0)" } ?? "not recorded"])
        lines.append(["fetches", "\(view.fetchCount) recorded, of \(view.allFetchCount) of all devices"])
        try Columns.write(lines, indentation: 4, to: output)
        for database in view.databases {
            output.write("zones of \(database.database.shownText)  \(Self.text(of: database.given))")
            output.write("; \(database.zonesBehind) changed since")
            try output.endLine()
        }
        for zone in view.zones {
            output.write("zone \(zone.database.shownText), \(Printable.escaped(zone.zone.name))  ")
            if !zone.isThere { output.write("does not exist; ") }
            output.write(zone.given.map { Self.text(of: $0) } ?? "no fetch of its changes is recorded")
            if let count = zone.changesBehind { output.write("; \(count.counted("change")) behind") }
            if let token = zone.lastClientToken { output.write("; its last client token came with commit \(token)") }
            try output.endLine()
        }
        if let record = view.record { try write(record, to: output) }
        for note in view.notes {
            output.write("note: " + note)
            try output.endLine()
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
        output.write(record.verdict.text(record.audit), record.verdict.isKnown ? .added : .removed)
        try output.endLine()
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

    // MARK: For programs

    func writeJSON(to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", view.offset)
        json.field("userName", view.actor.user)
        json.field("deviceName", view.actor.device)
        if let offset = view.firstSeen { json.field("firstSeen", offset) }
        if let offset = view.lastCommit { json.field("lastCommit", offset) }
        json.field("account", "\(view.account)")
        if let through = view.toldThrough { json.field("toldThrough", through) }
        if let badge = view.badge { json.field("badge", badge) }
        json.field("fetches", view.fetchCount)
        json.field("allFetches", view.allFetchCount)
        json.beginArray("databases")
        for database in view.databases {
            json.beginObject()
            write(database.database, to: &json)
            write(database.given, to: &json)
            json.field("zonesBehind", database.zonesBehind)
            json.endObject()
        }
        json.endArray()
        json.beginArray("zones")
        for zone in view.zones {
            json.beginObject()
            write(zone.database, to: &json)
            json.field("zoneName", zone.zone.name)
            json.field("there", zone.isThere)
            if let given = zone.given { write(given, to: &json) }
            if let count = zone.changesBehind { json.field("changesBehind", count) }
            if let offset = zone.lastClientToken { json.field("lastClientToken", offset) }
            json.endObject()
        }
        json.endArray()
        if let record = view.record { write(record, to: &json) }
        json.beginArray("notes")
        for note in view.notes { json.value(note) }
        json.endArray()
        json.endObject()
        try output.endLine()
    }

    private func write(_ database: DatabaseID, to json: inout JSONWriter) {
        json.field("scope", database.scope.name)
        json.field("ownerName", database.owner)
    }

    private func write(_ given: DeviceView.Given, to json: inout JSONWriter) {
        json.beginObject("given")
        json.field("audit", given.audit)
        json.field("time", given.time)
        json.field("offset", given.offset)
        json.field("whole", given.isWhole)
        json.field("moreComing", given.moreComing)
        if let refusal = given.refusal { json.field("reason", refusal.message) }
        json.endObject()
    }

    private func write(_ record: DeviceView.RecordKnowledge, to json: inout JSONWriter) {
        json.beginObject("record")
        write(record.database, to: &json)
        json.field("zoneName", record.id.zone.name)
        json.field("record", record.id.name)
        json.field("verdict", record.verdict.rawValue)
        if let version = record.version { json.field("changeTag", version.tag) }
        if let version = record.version { json.field("offset", version.offset) }
        if let time = record.time { json.field("time", time) }
        if let maker = record.madeBy {
            json.field("userName", maker.user)
            json.field("deviceName", maker.device)
        }
        json.field("deleted", record.isDeleted)
        if let audit = record.audit { json.field("audit", audit) }
        if let refusal = record.refusal { json.field("reason", refusal.message) }
        if let save = record.lastSave { json.field("lastSave", save.tag) }
        if let base = record.lastSaveBase { json.field("lastSaveBase", base.tag) }
        json.endObject()
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
