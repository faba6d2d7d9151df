import StrataLog
import StrataModel
import StrataViews

/// The details that `info` prints of a store. They come from headers, ends and hints. Of the log only the newest
/// segment is read completely.
struct StoreInfo {
    /// The base that replaces the compacted commits.
    struct Base {
        let path: String
        let horizon: Position
        let time: Int64
        let byteCount: Int
    }

    let path: String
    let identity: StoreIdentity
    let floor: Position
    let end: Position
    let firstTime: Int64?
    let lastTime: Int64?
    let segments: [(segment: LogReader.Segment, byteCount: Int)]
    let tail: LogReader.UnfinishedTail?
    let base: Base?
    let durability: LogDurability?
    let views: ViewsSummary?
    /// The reason why the page file cannot be described.
    let viewsProblem: StrataError?
    let names: NameCounts?
    let damage: StrataError?

    init(_ store: StoreAccess) throws {
        let reader = store.reader
        path = store.path
        identity = reader.identity
        (floor, end, tail) = (reader.floor, reader.end, reader.unfinishedTail)
        var damage = store.damage
        /// Records damage in one part, so that the other parts are still read.
        func told<Part>(_ part: () throws -> Part?) throws -> Part? {
            do { return try part() } catch let error as StrataError where error.isDamage {
                damage = damage ?? error
                return nil
            }
        }
        var first: Int64?
        if end.offset > floor.offset {
            var source = try CommitSource(store, from: floor.offset + 1)
            first = try source.next()?.time
            damage = damage ?? source.store.damage
        }
        firstTime = first
        lastTime = end.offset > floor.offset ? reader.endTime : nil
        segments = try reader.segments.map { segment in
            let file = try ReadOnlyFiles().open(segment.path, .read)
            defer { file.close() }
            return (segment, try file.size())
        }
        base = try told {
            try reader.readBase().map {
                Base(path: $0.path, horizon: $0.horizon, time: $0.time, byteCount: $0.byteCount)
            }
        }
        durability = try told { try reader.durability() }
        var (views, problem): (ViewsSummary?, StrataError?) = (nil, nil)
        do { views = try Views.summary(of: reader, in: store.path, files: ReadOnlyFiles()) } catch let error
            as StrataError
        { problem = error }
        (self.views, viewsProblem) = (views, problem)
        names = try told { try NameCounts(store, views) }
        self.damage = damage
    }

    var commitCount: UInt64 { end.offset - floor.offset }
    var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }
}

// MARK: For people

extension StoreInfo {
    func write(to output: Output) {
        func line(_ label: String, _ value: String) {
            output.write(label + String(repeating: " ", count: 12 - label.count) + Printable.escaped(value) + "\n")
        }
        func timeLine(_ label: String, _ time: Int64) {
            output.write(label + String(repeating: " ", count: 12 - label.count))
            output.write(Timestamp(microseconds: time))
            output.write("\n")
        }
        line("store", path)
        line("container", identity.containerIdentifier)
        line("id", identity.storeID.description)
        line("format", "\(LogFormat.version)")
        timeLine("created", identity.created)
        line("commits", "\(commitCount)")
        line("floor", "\(floor)")
        if let base { line("base", "\(base.byteCount.counted("byte")), for all commits up to \(base.horizon.offset)") }
        line("end", "\(end)")
        if let firstTime { timeLine("first", firstTime) }
        if let lastTime { timeLine("last", lastTime) }
        if let firstTime, let lastTime { line("span", Self.span(microseconds: lastTime - firstTime)) }
        line("durable", durabilityText)
        line("checkpoint", checkpointText)
        line("names", namesText)
        if let tail {
            line("tail", "\(tail.byteCount.counted("unfinished byte")) at position \(tail.position) of \(tail.path)")
            line("", tail.reason)
        }
        output.write("segments    \(segments.count), \(byteCount.counted("byte"))")
        for (segment, byteCount) in segments {
            let first = segment.firstOffset
            let offsets = segment.lastOffset.map { "\(first) to \($0)" } ?? "from \(first), empty"
            output.write("\n  \(offsets), \(byteCount.counted("byte")), \(segment.isClosed ? "closed" : "active")")
        }
    }

    /// `2 d 3 h 0 min 4.5 s`, starting with the largest unit that is not 0.
    static func span(microseconds: Int64) -> String {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = "\(rest)"
        var fraction = rest == 0 ? "" : "." + String(repeating: "0", count: 6 - digits.count) + digits
        while fraction.hasSuffix("0") { fraction.removeLast() }
        let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min")]
        let shown = parts.drop { $0.0 == 0 }.map { "\($0.0) \($0.1)" }
        return (shown + ["\(seconds % 60)\(fraction) s"]).joined(separator: " ")
    }

    private var durabilityText: String {
        guard let durability else { return "unknown" }
        let extent = durability.offset == end.offset ? "all" : "up to \(durability.offset)"
        switch durability.source {
        case .writer:
            guard let writer = durability.writer else { return extent }
            return "\(extent); process \(writer.processIdentifier) writes, since "
                + "\(Timestamp(microseconds: writer.opened))"
        case .closed: return extent
        case .witness:
            return durability.offset == end.offset ? extent : "\(extent) at least; the log was not closed"
        }
    }

    private var checkpointText: String {
        if let viewsProblem { return "unknown: \(viewsProblem)" }
        guard let views else { return "none: there is no page file" }
        let file = views.byteCount.counted("byte")
        guard let position = views.position else {
            // The state left by a program that created the store and ended before it wrote much.
            if views.finding == .missing { return "none yet; the page file has \(file)" }
            let reason = views.reasons.first.map { ": \($0)" } ?? ""
            return "none; the page file, \(file), is \(views.finding.rawValue)\(reason)"
        }
        let behind = end.offset - position.offset
        var text = "at \(position.offset), " + (behind == 0 ? "the end" : "\(behind) before the end") + "; \(file)"
        switch views.finding {
        case .whole: break
        case .otherSlot: text += "; a later or earlier one cannot be used"
        default: text += "; damaged" + (views.reasons.last.map { ": \($0)" } ?? "")
        }
        return text
    }

    private var namesText: String {
        guard let names else { return "unknown" }
        let nouns: [Namespace] = [.user, .zone, .recordType, .field]
        let text = nouns.map { names[$0].counted($0.noun) }.joined(separator: ", ")
        return names.through == end.offset ? text : "\(text); up to commit \(names.through)"
    }
}

// MARK: For programs

extension StoreInfo {
    func writeJSON(to output: Output) {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("path", path)
        json.field("container", identity.containerIdentifier)
        json.field("storeID", identity.storeID)
        json.field("formatVersion", UInt64(LogFormat.version))
        json.field("created", identity.created)
        json.field("commits", commitCount)
        json.field("floor", floor.offset)
        json.field("floorChain", hexadecimal: floor.chain)
        json.field("end", end.offset)
        json.field("chain", hexadecimal: end.chain)
        json.field("firstTime", firstTime)
        json.field("lastTime", lastTime)
        json.field("bytes", byteCount)
        json.beginArray("segments")
        for (segment, byteCount) in segments {
            json.beginObject()
            json.field("path", segment.path)
            json.field("firstOffset", segment.firstOffset)
            json.field("lastOffset", segment.lastOffset)
            json.field("bytes", byteCount)
            json.field("closed", segment.isClosed)
            json.endObject()
        }
        json.endArray()
        json.field("unfinishedTail", tail)
        write(base, to: &json)
        write(durability, to: &json)
        writeViews(to: &json)
        write(names, to: &json)
        json.field("damage", damage)
        json.endObject()
    }

    private func write(_ base: Base?, to json: inout JSONWriter) {
        guard let base else { return json.null("base") }
        json.beginObject("base")
        json.field("path", base.path)
        json.field("horizon", base.horizon.offset)
        json.field("chain", hexadecimal: base.horizon.chain)
        json.field("time", base.time)
        json.field("bytes", base.byteCount)
        json.endObject()
    }

    private func write(_ durability: LogDurability?, to json: inout JSONWriter) {
        guard let durability else { return json.null("durable") }
        json.beginObject("durable")
        json.field("offset", durability.offset)
        json.field("source", durability.source.rawValue)
        if let writer = durability.writer {
            json.field("process", Int(writer.processIdentifier))
            json.field("opened", writer.opened)
        }
        json.endObject()
    }

    private func writeViews(to json: inout JSONWriter) {
        guard let views else { return json.null("checkpoint") }
        json.beginObject("checkpoint")
        json.field("path", views.path)
        json.field("bytes", views.byteCount)
        json.field("finding", views.finding.rawValue)
        json.field("offset", views.position?.offset)
        if let position = views.position {
            json.field("chain", hexadecimal: position.chain)
        } else {
            json.null("chain")
        }
        json.field("time", views.time)
        json.beginArray("reasons")
        for reason in views.reasons { json.value(reason) }
        json.endArray()
        json.endObject()
    }

    private func write(_ names: NameCounts?, to json: inout JSONWriter) {
        guard let names else { return json.null("names") }
        json.beginObject("names")
        json.field("users", names[.user])
        json.field("devices", names[.device])
        json.field("databases", names[.database])
        json.field("zones", names[.zone])
        json.field("recordTypes", names[.recordType])
        json.field("fields", names[.field])
        json.field("through", names.through)
        json.endObject()
    }
}
