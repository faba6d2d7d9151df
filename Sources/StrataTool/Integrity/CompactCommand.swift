import StrataModel
import StrataStore

/// `strata compact`: lets go of a store's oldest commits, or tells what that would give back.
enum CompactCommand: Command {
    static let name = "compact"
    static let summary = "tell what letting go of a store's oldest commits would give back, or do it"
    static let details =
        "What the commits in front of OFFSET came to is kept, and the commit at OFFSET too; change tokens and past "
        + "states from before it are not served any more. Without --apply it changes nothing, "
        + "works beside a program that writes, and tells what would go, zone by zone. It ends with 1 and the reason "
        + "for an OFFSET that cannot be: one behind the end, one before which nothing is left, or one behind the "
        + "beginning of a long-lived operation that has not ended. On a full disk it folds the state in memory and "
        + "removes the page file for room; the next opening makes it again."
    static let operands = [Operand.store]
    static let before = Option.number(
        "--before", "OFFSET", 1...Version.maximumOffset, help: "let go of what is in front of this offset")
    static let apply = Option.flag("--apply", help: "do it; no program may have the store open for writing")
    static let options: [any OptionDescription] = [before, apply, Option.json]
    static let examples = [
        "strata compact Notes.strata --before 120000", "strata compact Notes.strata --before 120000 --apply",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let offset = arguments[before] else { throw UsageError("--before OFFSET is missing") }
        try StoreAccess.requireDirectory(arguments.store)
        do {
            if arguments[apply] {
                try compact(offset, arguments, output)
            } else {
                try plan(offset, arguments, output)
            }
        } catch let error as StrataError where error.code == .invalidArgument {
            Diagnostics.report("\(error)", by: name)
            return .no
        }
        return .success
    }

    private static func plan(_ offset: UInt64, _ arguments: Arguments, _ output: Output) throws {
        let store = try Store.openForReading(at: arguments.store)
        defer { try? store.close() }
        let plan = try store.compactionPlan(before: offset)
        if arguments[Option.json] { writeJSON(plan, output) } else { write(plan, output) }
        try output.endLine()
    }

    private static func compact(_ offset: UInt64, _ arguments: Arguments, _ output: Output) throws {
        var options = StoreOptions.embedded
        options.createsStore = false
        let done: Compaction
        do { done = try compact(offset, arguments.store, options) } catch let error as StrataError
            where error.code == .noSpace
        {
            Diagnostics.report(
                "the disk is full: the state is folded in memory, and the page file removed for room; the next "
                    + "opening makes it again", by: name)
            done = try Store.compactWithoutRoom(at: arguments.store, before: offset, options: options)
        }
        if arguments[Option.json] {
            var json = JSONWriter(output)
            json.beginObject()
            json.field("horizon", done.horizon)
            json.field("segments", done.segmentCount)
            json.field("freedBytes", done.freedBytes)
            json.field("baseBytes", done.baseBytes)
            json.field("assets", done.assetCount)
            json.endObject()
        } else {
            output.write(
                "commits up to \(done.horizon) are gone: \(done.segmentCount) segments, \(done.freedBytes) bytes; "
                    + "the base takes \(done.baseBytes) bytes; \(done.assetCount) files of assets went")
        }
        try output.endLine()
    }

    private static func compact(_ offset: UInt64, _ path: String, _ options: StoreOptions) throws -> Compaction {
        let store = try Store.open(at: path, options: options)
        // If the last checkpoint does not fit, only the next opening takes longer.
        defer { try? store.close() }
        return try store.compact(before: offset)
    }

    private static func write(_ plan: CompactionPlan, _ output: Output) {
        let base = "the base would have \(plan.recordBytes) bytes of records before compression"
        output.write(
            plan.freedBytes == 0
                ? "nothing to gain: commits up to \(plan.horizon) would go, and no file with them; \(base)"
                : "commits up to \(plan.horizon) would go: \(plan.segmentCount) segments, \(plan.freedBytes) bytes; "
                    + base)
        for zone in plan.zones {
            let database = zone.database.scope.name + (zone.database.owner.isEmpty ? "" : " of \(zone.database.owner)")
            output.write("\n  ")
            output.write(Printable.escaped("\(zone.zone.name) (\(database))"))
            output.write(
                ": \(zone.changeCount) changes would go, \(zone.recordCount) records of \(zone.byteCount) bytes stay")
        }
    }

    private static func writeJSON(_ plan: CompactionPlan, _ output: Output) {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("horizon", plan.horizon)
        json.field("segments", plan.segmentCount)
        json.field("freedBytes", plan.freedBytes)
        json.field("recordBytes", plan.recordBytes)
        json.beginArray("zones")
        for zone in plan.zones {
            json.beginObject()
            json.field("database", zone.database.scope.name)
            json.field("owner", zone.database.owner)
            json.field("zone", zone.zone.name)
            json.field("changes", zone.changeCount)
            json.field("records", zone.recordCount)
            json.field("bytes", zone.byteCount)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}
