import StrataLog
import StrataModel
import StrataSystem

/// `strata info`: what a store is, and how much is in it.
enum InfoCommand: Command {
    static let name = "info"
    static let summary = "tell what a store is and how much is in it"
    static let details =
        "It reads beside a program that writes to the store, and takes no lock. Of a damaged store it tells what it "
        + "can and ends with 3."
    static let operands = [Operand.store]
    static let options: [any OptionDescription] = [Option.json]
    static let examples = ["strata info Notes.strata", "strata info Notes.strata --json | jq .commits"]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let store = try StoreAccess(arguments.store)
        let info = try StoreInfo(store)
        if arguments[Option.json] { info.writeJSON(to: output) } else { info.write(to: output) }
        try output.endLine()
        if let damage = store.damage { throw damage }
        return .success
    }
}

/// What `info` tells.
private struct StoreInfo {
    let path: String
    let identity: StoreIdentity
    let floor: Position
    let end: Position
    let firstTime: Int64?
    let lastTime: Int64?
    let segments: [(segment: LogReader.Segment, byteCount: Int)]
    let tail: LogReader.UnfinishedTail?
    let damage: StrataError?

    init(_ store: StoreAccess) throws {
        let reader = store.reader
        path = store.path
        identity = reader.identity
        (floor, end, tail, damage) = (reader.floor, reader.end, reader.unfinishedTail, store.damage)
        var first: Int64?
        if end.offset > floor.offset {
            var source = try CommitSource(store, from: floor.offset + 1)
            first = try source.next()?.time
        }
        firstTime = first
        lastTime = end.offset > floor.offset ? reader.endTime : nil
        segments = try reader.segments.map { segment in
            let file = try ReadOnlyFiles().open(segment.path, .read)
            defer { file.close() }
            return (segment, try file.size())
        }
    }

    var commitCount: UInt64 { end.offset - floor.offset }
    var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

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
        line("end", "\(end)")
        if let firstTime { timeLine("first", firstTime) }
        if let lastTime { timeLine("last", lastTime) }
        if let tail {
            line("tail", "\(tail.byteCount) unfinished bytes at position \(tail.position) of \(tail.path)")
            line("", tail.reason)
        }
        output.write("segments    \(segments.count), \(byteCount) bytes")
        for (segment, byteCount) in segments {
            let first = segment.firstOffset
            let offsets = segment.lastOffset.map { "\(first) to \($0)" } ?? "from \(first), empty"
            output.write("\n  \(offsets), \(byteCount) bytes, \(segment.isClosed ? "closed" : "active")")
        }
    }

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
        if let firstTime { json.field("firstTime", firstTime) } else { json.null("firstTime") }
        if let lastTime { json.field("lastTime", lastTime) } else { json.null("lastTime") }
        json.field("bytes", byteCount)
        json.beginArray("segments")
        for (segment, byteCount) in segments {
            json.beginObject()
            json.field("path", segment.path)
            json.field("firstOffset", segment.firstOffset)
            if let last = segment.lastOffset { json.field("lastOffset", last) } else { json.null("lastOffset") }
            json.field("bytes", byteCount)
            json.field("closed", segment.isClosed)
            json.endObject()
        }
        json.endArray()
        json.field("unfinishedTail", tail)
        json.field("damage", damage)
        json.endObject()
    }
}
