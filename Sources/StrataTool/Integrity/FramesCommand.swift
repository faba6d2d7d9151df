import StrataLog
import StrataModel
import StrataSystem

/// `strata frames`: the contents of a store's log by position, with their checksums verified.
enum FramesCommand: Command {
    static let name = "frames"
    static let summary = "list the frames and blocks of a store's log, and check them"
    static let details =
        "Prints a line for each frame or block of each base and segment: its position, its size in bytes, its commits, "
        + "the size of its content and how that is stored, whether its checksum is right, and whether it is known to "
        + "be durable. Bytes that are neither a frame nor a block are listed with their position. After the blocks of "
        + "a sealed segment it prints what the footer says. --from, --to and -n choose commits, and omit everything "
        + "that holds none of them. Each line relies only on the place that it lists, so damaged stores are listed "
        + "too; then it exits with 3."

    static let segment = Option.number(
        "--segment", "N", 1...Version.maximumOffset, help: "list only the segment whose file has the name N")
    static let limit = Option.limit("-n", help: "list only frames and blocks that hold the last N commits")

    static let options: [any OptionDescription] = [
        Option.json, segment, LogCommand.from, LogCommand.to, limit,
    ]
    static let examples = [
        "strata frames Notes.strata --from 12 --to 20", "strata frames Notes.strata --segment 1",
        "strata frames Notes.strata --json | jq 'select(.checksum == \"wrong\")'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try CommitRange.check(arguments)
        try StoreAccess.requireDirectory(arguments.store)
        let files = try LogFiles(arguments.store)
        if let segment = arguments[segment], !files.segments.contains(segment) {
            let known = files.segments.map { "\($0)" }.joined(separator: ", ")
            return Diagnostics.refuse("there is no segment \(segment); the segments are: \(known)", by: name)
        }
        let end = try files.end()
        var listing = FrameListing(
            offsets: try offsets(arguments, end.offset), isWhole: !choosesCommits(arguments), durableEnd: end.durable,
            format: arguments[Option.json] ? FrameJSON() : FrameLines(), output: output)
        for file in files.listed(in: listing.offsets, segment: arguments[segment], isWhole: listing.isWhole) {
            try listing.list(file)
        }
        if let damage = try listing.damage ?? files.damage(ofNewest: listing.newestProblem) { throw damage }
        return .success
    }

    private static func choosesCommits(_ arguments: Arguments) -> Bool {
        let options: [any OptionDescription] = [LogCommand.from, LogCommand.to, limit]
        return options.contains { arguments.has($0) }
    }

    /// Returns the selected offsets; nil if there are none.
    private static func offsets(_ arguments: Arguments, _ end: UInt64) throws(UsageError) -> ClosedRange<UInt64>? {
        let (from, to) = try CommitRange.offsets(arguments, upTo: end)
        var first = max(1, from ?? 1)
        let last = to ?? UInt64.max
        if last < first { return nil }
        if let count = arguments[limit] {
            let end = min(end, last)
            first = max(first, end + 1 - min(count, end))
            // Commits written while this reads are not counted among the last ones.
            return first <= end ? first...end : nil
        }
        return first...last
    }
}

/// The files of a log by name.
struct LogFiles {
    /// A file to list.
    struct Entry {
        let path: String
        /// The first offset of a segment; nil for a base.
        let segment: UInt64?
        /// The horizon of a base; nil for a segment.
        let base: UInt64?
        let isNewest: Bool
    }

    let store: String
    /// The first offsets of all segments, in order.
    let segments: [UInt64]
    private let bases: [UInt64]
    private let paths: StorePaths

    init(_ store: String) throws {
        self.store = store
        paths = StorePaths(store)
        let names = try ReadOnlyFiles().list(paths.log)
        segments = names.compactMap(LogFormat.firstOffset(ofSegmentNamed:)).sorted()
        bases = names.compactMap(LogFormat.horizon(ofBaseNamed:)).sorted()
    }

    /// Returns the offsets of the last commit with an intact frame in the newest segment, and of the last durable
    /// commit.
    func end() throws -> (offset: UInt64, durable: UInt64) {
        guard let newest = segments.last else { return (0, 0) }
        // A segment begins only after all earlier commits are durable.
        var end = (offset: newest - 1, durable: newest - 1)
        var walk = try StoredPieceWalk(path: paths.segment(newest), files: ReadOnlyFiles())
        while let piece = try walk.next() {
            guard piece.problem == nil else { continue }
            end.offset = max(end.offset, piece.offsets?.upperBound ?? 0)
            end.durable = max(end.durable, piece.durableOffset ?? 0)
        }
        if let announced = LogDurability.announced(at: store, files: ReadOnlyFiles()) { end.durable = announced.offset }
        return end
    }

    /// - Parameter isWhole: true if files without commits are listed too.
    func listed(in offsets: ClosedRange<UInt64>?, segment: UInt64?, isWhole: Bool) -> [Entry] {
        var entries: [Entry] = []
        if isWhole, segment == nil {
            entries = bases.map { Entry(path: paths.base($0), segment: nil, base: $0, isNewest: false) }
        }
        guard let offsets else { return entries }
        for (index, first) in segments.enumerated() where segment == nil || segment == first {
            let isNewest = index == segments.count - 1
            let last = isNewest ? UInt64.max : max(first, segments[index + 1] - 1)
            guard offsets.overlaps(first...last) else { continue }
            entries.append(Entry(path: paths.segment(first), segment: first, base: nil, isNewest: isNewest))
        }
        return entries
    }

    /// Returns the damage in the newest segment. An invalid frame there may be unfinished, which is not damage.
    func damage(ofNewest problem: StrataError?) throws -> StrataError? {
        guard let problem else { return nil }
        do { return try StoreAccess(store).damage } catch let error as StrataError {
            return error.isDamage ? error : problem
        }
    }
}
