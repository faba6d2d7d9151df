import StrataModel
import StrataSystem

/// A file outside the log that proves how far the log reached: it names a commit that had been synced.
///
/// The hint page names the durable end of the last writer. The states of the views name the commit that each
/// contains, which was durable by then. Neither is written before the sync that it refers to.
struct EndWitness: Sendable, Equatable {
    var path: String
    var storeID: Identifier
    /// The last commit that the file knows to have been synced.
    var position: Position
    /// Earlier positions there. A file that contradicts the log's chain values proves nothing about the log.
    var earlier: [Position] = []

    /// Returns the witnesses among a store's files.
    ///
    /// IMPORTANT: Read the witnesses before the log, so that the log has the commits they name even while a program
    /// writes.
    static func all(_ paths: StorePaths, _ files: any FileSystem) throws -> [EndWitness] {
        try [tail(paths, files)].compactMap(\.self) + views(paths, files)
    }

    private static func tail(_ paths: StorePaths, _ files: any FileSystem) throws -> EndWitness? {
        guard let bytes = try read(paths.tail, files)?.prefix(TailHint.Place.block.count),
            let hint = try? TailHint(decoding: Array(bytes), path: paths.tail)
        else { return nil }
        return EndWitness(path: paths.tail, storeID: hint.storeID, position: hint.durableEnd)
    }

    private static func views(_ paths: StorePaths, _ files: any FileSystem) throws -> [EndWitness] {
        // The views of an earlier release are a file, which proves nothing any more.
        guard let names = try? files.list(paths.views) else { return [] }
        let marks = try names.filter(StateMark.isName).compactMap { name in
            let path = "\(paths.views)/\(name)"
            return try read(path, files).flatMap(StateMark.init(decoding:)).map { (path, $0) }
        }
        return marks.map { path, mark in
            let earlier = marks.map(\.1).filter {
                $0.storeID == mark.storeID && $0.position.offset < mark.position.offset
            }
            return EndWitness(
                path: path, storeID: mark.storeID, position: mark.position, earlier: earlier.map(\.position))
        }
    }

    /// Reads a file; returns nil if it is missing or unreadable, because it then proves nothing.
    private static func read(_ path: String, _ files: any FileSystem) throws -> [UInt8]? {
        let file: any File
        do { file = try files.open(path, .read) } catch let error as StrataError
            where [.notFound, .permissionDenied, .inputOutput].contains(error.code)
        { return nil }
        defer { file.close() }
        return try? file.read(count: try file.size(), at: 0)
    }

    /// True if the log's chain values differ from those in the file.
    fileprivate func isContradicted(by log: (some HistoryLog)?) -> Bool {
        guard let log else { return false }
        return earlier.contains { position in
            guard (log.floor.offset...log.end.offset).contains(position.offset) else { return false }
            return (try? log.has(position)) == false
        }
    }

    /// - Parameter last: the last offset of the log.
    fileprivate func error(after last: UInt64) -> StrataError {
        StrataError(
            .missingSegment, "Synced commits are missing from the log.",
            .init(
                segment: last + 1, offset: last + 1, path: path,
                expected: "commits \(last + 1) to \(position.offset), as this file records",
                found: "commit \(last) as the last one"))
    }
}

extension [EndWitness] {
    /// Returns the witnesses that name commits after the end of a log.
    func beyond(_ end: UInt64, of storeID: Identifier) -> [EndWitness] {
        filter { $0.storeID == storeID && $0.position.offset > end }
    }

    /// Returns the error for a log that ends too early; nil if no witness names a later commit.
    ///
    /// - Parameter log: opens the log as far as it is readable; called only if a witness names a later commit.
    func lostEnd<Log: HistoryLog>(
        after end: UInt64, of storeID: Identifier, in log: () throws -> Log
    ) -> StrataError? {
        let beyond = beyond(end, of: storeID).sorted { $0.position.offset > $1.position.offset }
        guard !beyond.isEmpty else { return nil }
        let log = try? log()
        return beyond.first { !$0.isContradicted(by: log) }?.error(after: end)
    }
}

/// The log position in a state file of the views (docs/format-runs.md §5). Nothing else of the file matters here.
struct StateMark: Equatable {
    private static let namePrefix = "state-"
    private static let magic = "StrataSt"
    private static let version: UInt16 = 1
    private static let maximumBytes = 64 << 20

    var storeID: Identifier
    /// The last commit that the state contains.
    var position: Position
}

extension StateMark {
    /// Returns true for the name of a state, and false for that of one which a repair has moved aside.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(namePrefix) && UInt64(name.dropFirst(namePrefix.utf8.count)) != nil
    }

    /// Decodes a state file; returns nil if it is damaged, or of another version.
    init?(decoding bytes: [UInt8]) {
        guard bytes.starts(with: Self.magic.utf8) else { return nil }
        let mark = try? ChecksummedBytes.open(bytes, "a state", atMost: Self.maximumBytes) { reader, content in
            reader.position = Self.magic.utf8.count
            let version = try reader.read(UInt16.self, "version")
            _ = try reader.read(UInt16.self, "form")
            let storeID = try reader.readIdentifier("store id")
            _ = try reader.read(UInt64.self, "sequence")
            let offset = try reader.read(UInt64.self, "offset")
            let position = Position(offset: offset, chain: try reader.read(UInt32.self, "chain value"))
            reader.position = content.count
            return version == Self.version ? StateMark(storeID: storeID, position: position) : nil
        }
        guard let mark = mark ?? nil else { return nil }
        self = mark
    }
}
