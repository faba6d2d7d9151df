import StrataLog
import StrataModel
import StrataSystem

/// A store opened for reading, as far as it is intact.
struct StoreAccess {
    let path: String
    let reader: LogReader
    /// The damage after the readable part; nil if none has been found.
    private(set) var damage: StrataError?
    private let files: ReadOnlyFiles
    private let touches: TouchFunction

    /// - Parameter touches: lists the changes in unsealed segments; by default none.
    /// - Throws: the damage if even the beginning cannot be read.
    init(_ path: String, touches: @escaping TouchFunction = { _ in [] }) throws {
        try self.init(path, ReadOnlyFiles(), touches, damage: nil)
    }

    private init(
        _ path: String, _ files: ReadOnlyFiles, _ touches: @escaping TouchFunction, damage: StrataError?
    ) throws {
        self.path = path
        self.damage = damage
        self.touches = touches
        var files = files
        while true {
            do {
                // The tool decodes payloads itself, and shows the same commits as the writer.
                reader = try LogReader.open(
                    at: path, extent: .written, requiresWholeEnd: files.limit == nil, platform: Platform(files: files),
                    touches: touches)
                self.files = files
                return
            } catch let error as StrataError {
                guard let narrower = Self.limit(below: error, path, files) else {
                    throw Self.told(error, of: self.damage)
                }
                self.damage = Self.told(error, of: self.damage)
                files.limit = narrower
            }
        }
    }

    static func requireDirectory(_ path: String) throws {
        guard try !RealFileSystem().exists(path) else { return }
        throw StrataError(.notFound, "The file or directory does not exist.", .init(path: path))
    }

    /// Returns the same store, limited to the part before `error`; nil if that is not less than is visible now.
    func narrowed(by error: StrataError) -> StoreAccess? {
        var files = files
        guard let narrower = Self.limit(below: error, path, files) else { return nil }
        files.limit = narrower
        return try? StoreAccess(path, files, touches, damage: Self.told(error, of: damage))
    }

    /// Returns the damage to report if an error follows earlier damage. In the same segment, which is then visible only
    /// in part, the earlier damage is reported.
    static func told(_ error: StrataError, of damage: StrataError?) -> StrataError {
        guard let damage, damage.context.segment == error.context.segment else { return error }
        return damage
    }

    /// Returns the first intact commit that is not older than `time`; nil if all are older.
    mutating func firstOffset(notBefore time: Int64) throws -> UInt64? {
        while true {
            do { return try reader.firstOffset(notBefore: time) } catch let error as StrataError {
                guard let narrowed = narrowed(by: error) else { throw error }
                self = narrowed
            }
        }
    }

    /// Returns the part that can be read before damage; nil if that is not less than before.
    static func limit(
        below error: StrataError, _ store: String, _ files: ReadOnlyFiles
    ) -> ReadOnlyFiles.Limit? {
        guard error.isDamage, let segment = error.context.segment else { return nil }
        let paths = StorePaths(store)
        let names = (try? files.list(paths.log)) ?? []
        let offsets = names.compactMap(LogFormat.firstOffset(ofSegmentNamed:)).sorted()
        guard let limit = limit(below: error, segment, offsets, in: paths) else { return nil }
        // Without this check the same damage would be found again and again.
        return isNarrower(limit, than: files.limit) ? limit : nil
    }

    private static func limit(
        below error: StrataError, _ segment: UInt64, _ offsets: [UInt64], in paths: StorePaths
    ) -> ReadOnlyFiles.Limit? {
        if offsets.contains(segment) {
            let path = paths.segment(segment)
            if error.code == .unsealedSegment, error.context.position == nil { return .init(segment: path) }
            if let position = error.context.position, error.isInFrames {
                return .init(segment: path, byteCount: Int(clamping: position))
            }
        }
        guard let before = offsets.last(where: { $0 < segment }) else { return nil }
        return .init(segment: paths.segment(before))
    }

    private static func isNarrower(_ limit: ReadOnlyFiles.Limit, than other: ReadOnlyFiles.Limit?) -> Bool {
        guard let other else { return true }
        if limit.segment != other.segment { return limit.segment < other.segment }
        return limit.byteCount ?? Int.max < other.byteCount ?? Int.max
    }
}

extension StrataError {
    /// True if the damage comes after the segment's header, so that the frames before it can be read.
    fileprivate var isInFrames: Bool { context.position ?? 0 >= 128 }
}
