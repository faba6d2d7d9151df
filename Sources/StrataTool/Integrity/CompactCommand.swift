import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// `strata compact`: compacts a store's oldest commits, or reports the space that this would free.
enum CompactCommand: Command {
    static let name = "compact"
    static let summary = "compact a store's oldest commits, or show what that would free"
    static let changesStores = true
    static let details =
        "Compaction keeps the state after the commits before OFFSET, and the commit at OFFSET; change tokens and past "
        + "states from before it are no longer served. Without --apply it changes nothing, can run while another "
        + "program writes, and shows what would be removed, zone by zone. Exits with 1 and prints the reason if OFFSET "
        + "is after the end, if there are no commits left before it, or if it is after the beginning of a long-lived "
        + "operation that has not ended. If no file of the log would be removed, it changes nothing and says so. On a "
        + "full disk it folds the state in memory and removes the views to make room; the next opening rebuilds them."
    static let before = Option.commit("--before", help: "compact the commits before this offset; required").required
    static let options: [any OptionDescription] = [before, Option.apply, Option.json]
    static let examples = [
        "strata compact Notes.strata --before 120000", "strata compact Notes.strata --before 120000 --apply",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[Option.apply] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let commit = arguments[before] else { throw UsageError("--before OFFSET is missing") }
        try StoreAccess.requireDirectory(arguments.store)
        let offset = max(1, try commit.offset(upTo: StoreAccess(arguments.store).reader.end.offset))
        do {
            if arguments[Option.apply] {
                try writeDone(compact(offset, arguments.store), before: offset, asJSON: arguments[Option.json], output)
            } else {
                try plan(offset, arguments, output)
            }
        } catch let error as StrataError where error.code == .invalidArgument {
            let log = try LogReader.open(at: arguments.store, platform: Platform(files: ReadOnlyFiles()))
            if offset <= log.end.offset + 1 { return Diagnostics.refuse("\(error)", code: error.code, by: name) }
            return Diagnostics.refuse(log.absence(of: offset), code: .outOfRange, by: name)
        }
        return .success
    }

    private static func plan(_ offset: UInt64, _ arguments: Arguments, _ output: Output) throws {
        let store = try Store.openForReading(at: arguments.store)
        defer { try? store.close() }
        let plan = try store.compactionPlan(before: offset)
        if arguments[Option.json] { return try output.writeJSON(plan, as: planShape) }
        write(plan, output)
        try output.endLine()
    }

    private static func compact(_ offset: UInt64, _ path: String) throws -> Compaction {
        let reading = Platform(files: ReadOnlyFiles())
        if let empty = try Store.emptyCompaction(at: path, before: offset, platform: reading) { return empty }
        var options = StoreOptions.embedded
        options.createsStore = false
        do { return try compact(offset, path, options) } catch let error as StrataError where error.code == .noSpace {
            Diagnostics.remark(
                "the disk is full: the state is folded in memory, and the views were removed to make room; the next "
                    + "opening rebuilds it", by: name)
            return try Store.compactWithoutRoom(at: path, before: offset, options: options)
        }
    }

    private static func writeDone(
        _ done: Compaction, before offset: UInt64, asJSON: Bool, _ output: Output
    ) throws {
        if asJSON { return try output.writeJSON(done, as: doneShape) }
        if done.horizon + 1 < offset {
            output.write(
                "nothing can be compacted before commit \(offset): no file of the log would be removed; nothing was "
                    + "changed")
        } else {
            output.write(
                "commits up to \(done.horizon) were compacted: \(done.segmentCount.counted("segment")), "
                    + "\(done.freedBytes.counted("byte")) freed; the base takes \(done.baseBytes.counted("byte")); "
                    + "\(done.assetCount.counted("asset file")) removed")
        }
        try output.endLine()
    }

    private static func compact(_ offset: UInt64, _ path: String, _ options: StoreOptions) throws -> Compaction {
        let store = try Store.open(at: path, options: options)
        // If the last changes cannot be written, only the next opening takes longer.
        defer { try? store.close() }
        return try store.compact(before: offset)
    }

    private static func write(_ plan: CompactionPlan, _ output: Output) {
        let base = "the base would have \(plan.recordBytes.counted("byte")) of records before compression"
        output.write(
            plan.freedBytes == 0
                ? "nothing to gain: commits up to \(plan.horizon) would be compacted, but no file would be removed; "
                    + "\(base)"
                : "commits up to \(plan.horizon) would be compacted: \(plan.segmentCount.counted("segment")), "
                    + "\(plan.freedBytes.counted("byte")) freed; \(base)")
        for zone in plan.zones {
            output.write("\n  ")
            output.write(Printable.escaped("\(zone.zone.name) (\(zone.database.shownText))"))
            let stays = zone.recordCount == 1 ? "stays" : "stay"
            output.write(
                ": \(zone.changeCount.counted("change")) would be removed, \(zone.recordCount.counted("record")) of "
                    + "\(zone.byteCount.counted("byte")) \(stays)")
        }
    }

    static let planShape = Shape<CompactionPlan>("What `compact` plans") {
        Key("horizon", "the last commit that would be compacted") { $0.horizon }
        Key("segments", "how many files of the log would be removed") { $0.segmentCount }
        Key("freedBytes", "how many bytes they have") { $0.freedBytes }
        Key("recordBytes", "bytes of records that the base would have before compression") { $0.recordBytes }
        Key("zones", "zones that would lose changes", each: zoneShape) { $0.zones }
    }

    private static let zoneShape = Shape<CompactionPlan.Zone>("A zone of a compaction") {
        Key(of: DatabaseID.shape) { $0.database }
        Key("zone", "its name") { $0.zone.name }
        Key("changes", "how many changes would be removed") { $0.changeCount }
        Key("records", "how many records would stay") { $0.recordCount }
        Key("bytes", "how many bytes they have") { $0.byteCount }
    }

    static let doneShape = Shape<Compaction>("What `compact --apply` prints") {
        Key("horizon", "the last commit that was compacted, now or before, 0 if none") { $0.horizon }
        Key("segments", "how many files of the log were removed") { $0.segmentCount }
        Key("freedBytes", "how many bytes they had") { $0.freedBytes }
        Key("baseBytes", "how many the new base has") { $0.baseBytes }
        Key("assets", "how many files of assets were removed") { $0.assetCount }
    }
}
