import StrataModel
import StrataSystem

/// A summary of a page file. Obtaining it takes no lock and creates or writes nothing.
///
/// ```swift
/// let summary = try PageStore.summary(in: path, store: id, files: files) { try log.has($0) }
/// print(summary?.finding, summary?.checkpoint?.position)
/// ```
package struct PageFileSummary: Sendable {
    package var path: String
    package var byteCount: Int
    /// The result that opening would have. Only headers and records are read, no other page.
    package var finding: PageFileFinding
    /// The newest usable checkpoint; nil if there is none.
    package var checkpoint: Checkpoint?
    /// The reasons why other checkpoints are unusable.
    package var reasons: [StrataError]
}

extension PageStore {
    /// The maximum number of attempts to read a header that a writer may be changing.
    private static let summaryAttempts = 3

    /// Summarizes the page file of a directory. Returns nil if there is none.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    package static func summary(
        in directory: String, store: Identifier, files: any FileSystem, isValid: (Position) throws -> Bool
    ) throws -> PageFileSummary? {
        guard try files.exists(viewsPath(directory)) else { return nil }
        var summary = try readSummary(in: directory, store, files, isValid)
        for _ in 1..<summaryAttempts where !summary.reasons.isEmpty {
            summary = try readSummary(in: directory, store, files, isValid)
        }
        return summary
    }

    private static func readSummary(
        in directory: String, _ store: Identifier, _ files: any FileSystem, _ isValid: (Position) throws -> Bool
    ) throws -> PageFileSummary {
        let options = PageStoreOptions.glance
        let file = try PageFile(
            try files.open(viewsPath(directory), .read), capacity: options.maximumPages, access: options.access)
        let rules = SlotRules(store: store, capacity: options.maximumPages)
        let readings = try (0..<ViewFormat.headerSlots).map {
            try SlotReading.read($0, of: file, rules, skipsRuns: true, isValid: isValid)
        }
        let taken = readings.filter { $0.record != nil }
            .max { ($0.header?.sequence ?? 0) < ($1.header?.sequence ?? 0) }
        let rejected = readings.filter { $0.error != nil }
        // Without a usable checkpoint, the most informative finding.
        let finding = [PageFileFinding.newer, .foreign, .stale, .damaged].first { finding in
            rejected.contains { $0.finding == finding }
        }
        var summary = PageFileSummary(
            path: file.path, byteCount: try file.file.size(), finding: finding ?? .missing, checkpoint: nil,
            reasons: rejected.compactMap(\.error))
        if let header = taken?.header, let record = taken?.record {
            summary.checkpoint = Checkpoint(header, opaque: record.opaque)
            summary.finding = rejected.isEmpty ? .whole : .otherSlot
        }
        return summary
    }

    /// Reads the trees of the newest checkpoint without registering in `readers`. If a writer reuses their pages during
    /// the read, `body` is called again with a later checkpoint. Returns nil if there is no usable checkpoint, or if
    /// checkpoints follow each other too fast.
    package static func glance<Result>(
        in directory: String, store: Identifier, files: any FileSystem, isValid: (Position) throws -> Bool,
        _ body: (Snapshot, Checkpoint) throws -> Result
    ) throws -> Result? {
        let platform = Platform(files: ReadOnlyFileSystem(files: files))
        for _ in 0..<summaryAttempts {
            let opened: OpenedPageReader
            do {
                opened = try openReader(
                    in: directory, store: store, platform: platform, options: .glance, isValid: isValid)
            } catch let error as StrataError where error.code == .notFound { return nil }
            let result = Swift.Result { try body(opened.snapshot, opened.checkpoint) }
            if try hasHeader(of: opened.checkpoint.epoch, in: directory, files) { return try result.get() }
        }
        return nil
    }

    /// Returns true if a header still names an epoch. As long as one does, none of its pages is reused.
    private static func hasHeader(of epoch: UInt64, in directory: String, _ files: any FileSystem) throws -> Bool {
        let options = PageStoreOptions.glance
        let file = try PageFile(
            try files.open(viewsPath(directory), .read), capacity: options.maximumPages, access: options.access)
        return (0..<ViewFormat.headerSlots).contains { index in
            (try? CheckpointHeader.decode(try file.readSlot(index)))?.epoch == epoch
        }
    }
}

extension PageStoreOptions {
    /// Options for reading a few pages: a file that is truncated while it is read causes an error and nothing worse.
    static let glance: PageStoreOptions = {
        var options = PageStoreOptions(maximumArenaPages: 1_024)
        options.access = .read(cachedPages: 256)
        return options
    }()
}

/// A file system that changes no file: in place of `readers`, to which readers write, it opens an empty file.
private struct ReadOnlyFileSystem: FileSystem {
    let files: any FileSystem

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        if case .writeOrCreate = mode { return NullFile(path: path) }
        return try files.open(path, mode)
    }

    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }
    func makeDirectory(_ path: String) throws { throw NullFile.refusal(path) }
    func rename(_ source: String, to target: String) throws { throw NullFile.refusal(source) }
    func remove(_ path: String) throws { throw NullFile.refusal(path) }
    func syncDirectory(_ directory: String) throws { throw NullFile.refusal(directory) }
}

/// An empty file that accepts writes and discards them.
private final class NullFile: File {
    let path: String

    init(path: String) { self.path = path }

    static func refusal(_ path: String) -> StrataError {
        StrataError(.readOnlyMedium, "The file is open for reading only.", .init(path: path))
    }

    func size() throws -> Int { 0 }
    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int { 0 }
    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int { source.count }
    func syncData() throws {}
    func finishWriteback(_ range: Range<Int>) {}
    func allocate(_ range: Range<Int>) throws {}
    func truncate(to size: Int) throws {}
    func map(length: Int) throws -> any MappedMemory { throw Self.refusal(path) }
    func tryLock() throws -> Bool { true }
    func tryLock(byte position: Int) throws -> Bool { true }
    func unlock(byte position: Int) throws {}
    func isLockedElsewhere(byte position: Int) throws -> Bool { false }
    func close() {}
}
