import StrataLog
import StrataModel
import StrataTree
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
    /// The reason why the views cannot be described.
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
    func write(to output: Output) throws {
        func line(_ label: String, _ value: String) {
            output.write(label.padded(to: 12) + Printable.escaped(value) + "\n")
        }
        func timeLine(_ label: String, _ time: Int64) {
            output.write(label.padded(to: 12))
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
        line("views", viewsText)
        if let state = views?.state, !state.levels.isEmpty { line("levels", Self.text(state)) }
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
        try output.endLine()
    }

    /// `2 d 3 h 0 min 4.5 s`, starting with the largest unit that is not 0.
    static func span(microseconds: Int64) -> String {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        var fraction = rest == 0 ? "" : "." + "\(rest)".leftPadded(to: 6, with: "0")
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

    private var viewsText: String {
        if let viewsProblem { return "unknown: \(viewsProblem)" }
        guard let views else { return "none" }
        let size = views.byteCount.counted("byte")
        guard let position = views.state?.position else {
            // The state left by a program that created the store and ended before it wrote much.
            if views.finding == .missing { return "no state yet; \(size)" }
            let reason = views.reasons.first.map { ": \($0)" } ?? ""
            return "no usable state, they are \(views.finding.rawValue)\(reason); \(size)"
        }
        let behind = end.offset - position.offset
        var text = "at \(position.offset), " + (behind == 0 ? "the end" : "\(behind) before the end") + "; \(size)"
        switch views.finding {
        case .whole: break
        case .olderState: text += "; a newer one cannot be used"
        default: text += "; damaged" + (views.reasons.last.map { ": \($0)" } ?? "")
        }
        return text
    }

    /// `flushed 2 runs, 8192 bytes; base 1 run, 65536 bytes; 1.5 bytes written for each byte flushed`
    private static func text(_ state: DurableState) -> String {
        let levels = state.levels.map {
            "\($0.level) \($0.runCount.counted("run")), \($0.byteCount.counted("byte"))"
        }
        let amplification = state.flushedBytes == 0 ? 1 : Double(state.writtenBytes) / Double(state.flushedBytes)
        return (levels + ["\((10 * amplification).rounded(.down) / 10) bytes written for each byte flushed"])
            .joined(separator: "; ")
    }

    private var namesText: String {
        guard let names else { return "unknown" }
        let nouns: [Namespace] = [.user, .zone, .recordType, .field]
        let text = nouns.map { names[$0].counted($0.noun) }.joined(separator: ", ")
        return names.through == end.offset ? text : "\(text); up to commit \(names.through)"
    }
}

// MARK: For programs

extension StoreInfo: Shaped {
    static let shape = Shape<Self>("What `info` prints") {
        Key("path", "as given") { $0.path }
        Key("container", "container identifier") { $0.identity.containerIdentifier }
        Key("storeID", "id of the store") { $0.identity.storeID }
        Key("formatVersion", "1") { _ in UInt64(LogFormat.version) }
        Key("created", "when") { $0.identity.created }
        Key("commits", "how many the log holds") { $0.commitCount }
        Key("floor", "last offset that was compacted, 0 for none") { $0.floor.offset }
        Key("floorChain", "chain value there") { Hexadecimal($0.floor.chain) }
        Key("end", "last offset") { $0.end.offset }
        Key("chain", "chain value there") { Hexadecimal($0.end.chain) }
        Key("firstTime", "time of the first commit that the log holds") { $0.firstTime }
        Key("lastTime", "time of the last") { $0.lastTime }
        Key("bytes", "size of all segment files") { $0.byteCount }
        Key("segments", "the segments, in order", each: segmentShape) { $0.segments }
        Key("unfinishedTail", "an unfinished tail") { $0.tail }
        Key("base", "the base that represents the compacted history") { $0.base }
        Key("durable", "how far the log is durable, or null if that is not known") { $0.durability }
        Key("views", "null if there are none, or if nothing is known about them") { $0.views }
        Key("names", "how many names there are, or null if that is not known") { $0.names }
        Key("damage", "damage that was found. `info` does not read everything") { $0.damage }
    }

    private static let segmentShape = Shape<(segment: LogReader.Segment, byteCount: Int)>("A segment") {
        Key("path", "of the file") { $0.segment.path }
        Key("firstOffset", "the first offset that it holds or will hold") { $0.segment.firstOffset }
        Key("lastOffset", "the last, or null if it is empty") { $0.segment.lastOffset }
        Key("bytes", "size of the file") { $0.byteCount }
        Key("closed", "true if nothing more is written to it") { $0.segment.isClosed }
    }
}

extension StoreInfo.Base: Shaped {
    static let shape = Shape<Self>("A base") {
        Key("path", "of the file") { $0.path }
        Key("horizon", "the last offset that it represents") { $0.horizon.offset }
        Key("chain", "chain value there") { Hexadecimal($0.horizon.chain) }
        Key("time", "of that commit") { $0.time }
        Key("bytes", "size of the file") { $0.byteCount }
    }
}

extension LogReader.UnfinishedTail: Shaped {
    static let shape = Shape<Self>(
        "An unfinished tail",
        "Bytes after the last complete commit: a program is writing them, or was stopped while it wrote them."
    ) {
        Key("path", "of the segment") { $0.path }
        Key("position", "where it begins in the file") { $0.position }
        Key("bytes", "how long it is") { $0.byteCount }
        Key("reason", "the reason why it is not a commit, in words") { $0.reason }
    }
}

extension LogDurability: Shaped {
    static let shape = Shape<Self>("How far a log is durable") {
        Key("offset", "the last commit that is known to be durable") { $0.offset }
        Key(
            "source",
            "`writer`: reported by a program that writes to the store. `closed`: the log was closed. `witness`: "
                + "everything up to there had been synced when the last commit was written, maybe more since"
        ) { $0.source.rawValue }
        Key("process", "the program's process", if: "if one writes") { $0.writer.map { Int($0.processIdentifier) } }
        Key("opened", "when it opened the store", if: "if one writes") { $0.writer?.opened }
    }
}

extension ViewsSummary: Shaped {
    static let shape = Shape<Self>("Views on disk") {
        Key("path", "of the directory") { $0.path }
        Key("bytes", "size of its files") { $0.byteCount }
        Key(
            "finding",
            "`whole`, `olderState` (the newest state cannot be used), `missing` (there is no state), `damaged`, "
                + "`otherForm` (of another release), `foreign` (of another store) or `stale` (the log does not have it)"
        ) { $0.finding.rawValue }
        Key("offset", "the last commit in the newest usable state, or null if there is none") {
            $0.state?.position.offset
        }
        Key("chain", "chain value there") { $0.state.map { Hexadecimal($0.position.chain) } }
        Key("time", "when it was written") { $0.state?.time }
        Key("levels", "the levels that have runs, newest first; those before the base are still to be merged") {
            $0.state?.levels
        }
        Key("flushedBytes", "bytes of files that flushes have written so far") { $0.state?.flushedBytes }
        Key("writtenBytes", "the same of flushes and merges") { $0.state?.writtenBytes }
        Key("reasons", "why states cannot be used") { $0.reasons }
    }
}

extension LevelSize: Shaped {
    static let shape = Shape<Self>("A level of views") {
        Key("level", "`flushed`, `middle` or `base`") { "\($0.level)" }
        Key("runs", "how many runs it has") { $0.runCount }
        Key("bytes", "size of their pieces") { $0.byteCount }
    }
}

extension NameCounts: Shaped {
    static let shape = Shape<Self>("How many names there are") {
        Key("users", "users") { $0[.user] }
        Key("devices", "devices") { $0[.device] }
        Key("databases", "databases") { $0[.database] }
        Key("zones", "zones") { $0[.zone] }
        Key("recordTypes", "record types") { $0[.recordType] }
        Key("fields", "fields") { $0[.field] }
        Key("through", "the last commit whose names are counted, `end` if all are") { $0.through }
    }
}
