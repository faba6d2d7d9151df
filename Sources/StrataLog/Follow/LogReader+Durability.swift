import StrataModel
import StrataSystem

/// How far a log is known to survive a loss of power, as far as its files tell.
///
/// ```swift
/// let durability = try reader.durability()
/// print("all up to \(durability.offset)")
/// ```
public struct LogDurability: Sendable, Equatable {
    /// What says so.
    public enum Source: String, Sendable {
        /// A program that writes, in `log/tail`.
        case writer
        /// The log was closed: what ends it is written after a sync of all in front.
        case closed
        /// A frame: when it was written, so much had been synced. There may be more.
        case witness
    }

    /// A program that has the log open for writing.
    public struct Writer: Sendable, Equatable {
        public var processIdentifier: Int32
        /// When it opened the log, in microseconds since 1970.
        public var opened: Int64
    }

    /// The last commit that is known to be durable; the floor if none is.
    public var offset: UInt64
    public var source: Source
    /// Nil where none lives, or none that says so.
    public var writer: Writer?
}

extension LogDurability {
    /// What a program that writes to a store says of it; nil if none lives. The log itself is not looked at, and need
    /// not be whole.
    public static func announced(at path: String, files: any FileSystem = RealFileSystem()) -> LogDurability? {
        let paths = StorePaths(path)
        guard let identity = try? LogDirectory.readIdentity(paths, files),
            case .live(let hint, _) = TailReader(paths, files, storeID: identity.storeID).outlook()
        else { return nil }
        return LogDurability(hint, offset: hint.durableEnd.offset)
    }

    fileprivate init(_ hint: TailHint, offset: UInt64) {
        self.init(
            offset: offset, source: .writer,
            writer: Writer(processIdentifier: hint.processIdentifier, opened: hint.opened))
    }
}

extension LogReader {
    /// Asks the writer, if there is one, and else the last frames.
    public func durability() throws -> LogDurability {
        if case .live(let hint, _) = tail.outlook() {
            // What came since this reader looked is nothing that it could show.
            return LogDurability(hint, offset: max(floor.offset, min(hint.durableEnd.offset, end.offset)))
        }
        let (segment, end) = catalog.read { ($0.segments[$0.segments.count - 1], $0.end) }
        // A segment without commits has closed ones in front of it, or nothing.
        guard segment.seal == nil, end.offset >= segment.firstOffset else {
            return LogDurability(offset: end.offset, source: .closed)
        }
        guard let range = try catalog.withIndex(of: segment, { $0.range(of: end.offset) }) else {
            return LogDurability(offset: segment.firstOffset - 1, source: .closed)
        }
        let file = try catalog.newestFile(of: segment) ?? catalog.open(segment)
        if try Self.isMark(segment, file, endingAt: range.upperBound) {
            return LogDurability(offset: end.offset, source: .closed)
        }
        let last = try FrameLoader(segment: segment, file: file).lastHeader(offset: end.offset, in: range)
        return LogDurability(
            offset: max(last.witnessedOffset ?? 0, segment.firstOffset - 1), source: .witness)
    }

    private static func isMark(_ segment: SegmentFile, _ file: any File, endingAt limit: Int) throws -> Bool {
        let position = limit - LogFormat.frameHeaderBytes
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: position)
        guard bytes.count == LogFormat.frameHeaderBytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            let decoded = FrameHeader.decode(bytes, salt: segment.header.salt, position: position)
            if case .valid(let header) = decoded { return header.kind == .mark }
            return false
        }
    }
}
