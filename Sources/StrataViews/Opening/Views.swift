import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The state of a store, folded from its log and kept in its page file.
///
/// ```swift
/// let opened = try Views.open(log, in: path) { progress in print("\(progress.offset) of \(progress.end)") }
/// let views = opened.views
/// try views.pages.snapshot().digests()
/// ```
package final class Views: Sendable {
    /// The form of the keys and rows of the trees (docs/format-keys.md §1). Views of another form are rebuilt.
    package static let form: UInt64 = 7

    package let pages: PageStore
    let log: any EventLog

    init(pages: PageStore, log: any EventLog) {
        self.pages = pages
        self.log = log
    }

    /// Creates views in memory that leave no files.
    package static func inMemory(
        _ log: any EventLog, options: PageStoreOptions = PageStoreOptions(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Views {
        let views = Views(pages: try PageStore.inMemory(options: options), log: log)
        try Replay(log: log, pages: views.pages).run(progress: progress)
        return views
    }

    /// Makes the state of a snapshot durable, so that opening folds only the commits after it.
    ///
    /// - Parameter isPaced: true to leave room on the disk for commits that are made during the checkpoint.
    /// - Throws: ``StrataError`` of the file or disk, or if the log is not durable up to the snapshot, because a
    ///   checkpoint is never ahead of the log. The previous checkpoint stays.
    @discardableResult
    package func checkpoint(_ snapshot: Snapshot, isPaced: Bool = true) throws -> Checkpoint {
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard offset <= log.durableEnd.offset else {
            throw StrataError(
                .invalidArgument, "A checkpoint must not be after the last synced commit.",
                .init(expected: "at most \(log.durableEnd.offset)", found: "\(offset)"))
        }
        return try pages.checkpoint(
            snapshot, at: try position(offset), opaque: try Self.note(snapshot.digests()), isPaced: isPaced)
    }

    private func position(_ offset: UInt64) throws -> Position {
        Position(offset: offset, chain: offset == 0 ? 0 : try log.chain(at: offset))
    }

    /// Frees the space of a page file that is mostly empty: a compact file with only the newest checkpoint's state
    /// replaces it. Nothing may be published while it runs, and no checkpoint can be written afterward.
    package func compactIfSparse(platform: Platform = Platform()) throws {
        let snapshot = pages.snapshot()
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard pages.isSparse, pages.info.checkpointPosition?.offset == offset else { return }
        _ = try pages.compact(
            snapshot, at: try position(offset), opaque: try Self.note(snapshot.digests()), platform: platform)
    }

    /// Encodes the data that a checkpoint stores with the trees: the form and both digests.
    static func note(_ digests: Digests) -> [UInt8] {
        var writer = ByteWriter(reserving: 40)
        writer.appendVarint(form)
        writer.append(digests.state)
        writer.append(digests.content)
        return writer.bytes
    }

    /// - Throws: ``StrataError`` if the note has the form of another release.
    static func digests(noted bytes: [UInt8]) throws -> Digests {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let found = try reader.readVarint("the form of the views")
            guard found == form else {
                throw StrataError(
                    .newerFormat, "The views have the form of another release and are rebuilt.",
                    .init(expected: "form \(form)", found: "\(found)"))
            }
            return try reader.readDigests()
        }
    }
}
