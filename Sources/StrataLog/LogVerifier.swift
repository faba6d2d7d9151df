import StrataModel
import StrataSystem

/// Reads every byte of a log and says whether it is what the format demands, without the lock and without changing
/// anything.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let damage = report.damage { print(damage) }
/// ```
public enum LogVerifier {
    private static let attempts = 3

    public struct Report: Sendable {
        public var identity: StoreIdentity?
        public var segmentCount = 0
        public var commitCount: UInt64 = 0
        public var eventCount: UInt64 = 0
        public var fileBytes = 0
        /// The last commit in front of any damage.
        public var end: Position = .start
        public var unfinishedTail: LogReader.UnfinishedTail?
        /// The first place that is wrong; nil if all is well.
        public var damage: StrataError?

        public init() {}
    }

    /// - Parameter progress: called now and then with the bytes read so far and in all.
    public static func verify(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> Report {
        var report = Report()
        do { try verify(StorePaths(path), platform.files, &report, progress) } catch {
            report.damage = error as? StrataError ?? StrataError(.inputOutput, "Reading failed.", cause: error)
        }
        return report
    }

    private static func verify(
        _ paths: StorePaths, _ files: any FileSystem, _ report: inout Report, _ progress: (Int, Int) -> Void
    ) throws {
        report.identity = try LogDirectory.readIdentity(paths, files)
        let directory = try LogReader.retrying(.notFound) { try LogDirectory.load(paths, files) }
        guard !directory.segments.isEmpty else {
            throw StrataError(.missingSegment, "The store has no segments.", .init(path: paths.log))
        }
        // Names that were interned below the floor are gone, so what follows cannot be judged by itself.
        var names = directory.floor == nil ? NameTable() : nil
        var total = 0
        for segment in directory.segments {
            let file = try files.open(segment.path, .read)
            total += try file.size()
            file.close()
        }
        for segment in directory.segments.dropLast() {
            try verify(segment, isNewest: false, files, &names, &report, progress, total)
        }
        guard let newest = directory.segments.last else { return }
        // A writer may be in the middle of what is read here; damage is what stays.
        let before = (names: names, report: report)
        for _ in 1..<attempts {
            do {
                try verify(newest, isNewest: true, files, &names, &report, progress, total)
                return try directory.checkEnd(report.end, paths)
            } catch is StrataError {
                (names, report) = before
            }
        }
        try verify(newest, isNewest: true, files, &names, &report, progress, total)
        try directory.checkEnd(report.end, paths)
    }

    private static func verify(
        _ segment: SegmentFile, isNewest: Bool, _ files: any FileSystem, _ names: inout NameTable?,
        _ report: inout Report, _ progress: (Int, Int) -> Void, _ total: Int
    ) throws {
        if segment.header.form == .blocks { return try verifySealed(segment, files, &names, &report, progress, total) }
        let file = try files.open(segment.path, .read)
        defer { file.close() }
        let size = try file.size()
        let before = report.fileBytes
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: size))
        report.segmentCount += 1
        report.end = segment.header.before
        let found = try SegmentEnd.find(&scanner, isNewest: isNewest) { scanned in
            do { report.eventCount += try verifyPayload(ArraySlice(scanned.payload), &names) } catch let error
                as StrataError
            {
                throw error.located(
                    path: segment.path, segment: segment.firstOffset, offset: scanned.header.offset)
            }
            report.commitCount += 1
            report.end = Position(offset: scanned.header.offset, chain: scanned.header.chain)
            progress(before + scanned.range.upperBound, total)
        }
        report.fileBytes += size
        if case .torn(let limit, let error) = found.kind {
            report.unfinishedTail = LogReader.UnfinishedTail(
                path: segment.path, position: found.position, byteCount: limit - found.position,
                reason: error?.message ?? "A commit in front of others is not there.")
        }
        progress(report.fileBytes, total)
    }

    /// A segment of blocks: every block, and the chain of the commits.
    private static func verifySealed(
        _ segment: SegmentFile, _ files: any FileSystem, _ names: inout NameTable?, _ report: inout Report,
        _ progress: (Int, Int) -> Void, _ total: Int
    ) throws {
        let file = try files.open(segment.path, .read)
        let size = try file.size()
        let sealed = try SealedSegment(segment, file, BlockCache())
        report.segmentCount += 1
        report.end = segment.header.before
        var cursor = try SealedSegment.Cursor(sealed, from: segment.firstOffset, checksChain: true)
        while let commit = try cursor.next() {
            do { report.eventCount += try verifyPayload(commit.payload, &names) } catch let error as StrataError {
                throw error.located(path: segment.path, segment: segment.firstOffset, offset: commit.offset)
            }
            report.commitCount += 1
            report.end = commit.position
        }
        try sealed.requireWhole()
        report.fileBytes += size
        progress(report.fileBytes, total)
    }

    /// The events of a payload, each decoded as far as this version knows it.
    private static func verifyPayload(_ payload: ArraySlice<UInt8>, _ names: inout NameTable?) throws -> UInt64 {
        let envelope = try Envelope(decoding: payload)
        _ = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        for event in envelope.events where event.kind == .nameInterned {
            let interned = try InternedName(decoding: event.body)
            try names?.add(interned)
        }
        return UInt64(envelope.events.count)
    }
}
