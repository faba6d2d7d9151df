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
        let taken = PageStoreOpening.best(readings)
        // Without a usable checkpoint, the most informative finding.
        var summary = PageFileSummary(
            path: file.path, byteCount: try file.file.size(), finding: PageStoreOpening.worst(readings),
            checkpoint: nil, reasons: readings.compactMap(\.error))
        if let header = taken?.header, let record = taken?.record {
            summary.checkpoint = Checkpoint(header, opaque: record.opaque)
            summary.finding = summary.reasons.isEmpty ? .whole : .otherSlot
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
        for _ in 0..<summaryAttempts {
            let opened: CheckedPageFile?
            do {
                opened = try CheckedPageFile.open(in: directory, store: store, files: files, isValid: isValid)
            } catch let error as StrataError where error.code == .notFound { return nil }
            guard let opened, let newest = opened.entries.last else { return nil }
            let result = Swift.Result { try body(newest.trees, newest.checkpoint) }
            if try opened.isThere(newest.checkpoint) { return try result.get() }
        }
        return nil
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
