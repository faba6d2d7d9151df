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
public final class Views: Sendable {
    /// What the keys and rows of the trees mean (docs/format-keys.md §1). Views of another form are rebuilt.
    public static let form: UInt64 = 1

    public let pages: PageStore
    let log: any EventLog

    init(pages: PageStore, log: any EventLog) {
        self.pages = pages
        self.log = log
    }

    /// Views that leave nothing behind.
    public static func inMemory(
        _ log: any EventLog, options: PageStoreOptions = PageStoreOptions(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Views {
        let views = Views(pages: try PageStore.inMemory(options: options), log: log)
        try Replay(log: log, pages: views.pages).run(progress: progress)
        return views
    }

    /// Makes the state of a snapshot durable, so that opening folds only what comes after it.
    ///
    /// - Parameter isPaced: whether the disk is shared with somebody who commits meanwhile.
    /// - Throws: ``StrataError`` of file or disk; the checkpoint before stays. Also if the log is not durable that far:
    ///   a checkpoint is never ahead of it.
    @discardableResult
    public func checkpoint(_ snapshot: Snapshot, isPaced: Bool = true) throws -> Checkpoint {
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard offset <= log.durableEnd.offset else {
            throw StrataError(
                .invalidArgument, "A checkpoint is never ahead of what the log has synced.",
                .init(expected: "at most \(log.durableEnd.offset)", found: "\(offset)"))
        }
        return try pages.checkpoint(
            snapshot, at: try position(offset), opaque: try Self.note(snapshot.digests()), isPaced: isPaced)
    }

    private func position(_ offset: UInt64) throws -> Position {
        Position(offset: offset, chain: offset == 0 ? 0 : try log.chain(at: offset))
    }

    /// Gives back the room of a page file most of which is free: a compact one takes its place, with the newest
    /// checkpoint's state alone. Nothing may be published meanwhile, and no checkpoint is written after it.
    public func compactIfSparse(platform: Platform = Platform()) throws {
        let snapshot = pages.snapshot()
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard pages.isSparse, pages.info.checkpointPosition?.offset == offset else { return }
        _ = try pages.compact(
            snapshot, at: try position(offset), opaque: try Self.note(snapshot.digests()), platform: platform)
    }

    /// What a checkpoint keeps beside the trees: the form, and both digests.
    static func note(_ digests: Digests) -> [UInt8] {
        var writer = ByteWriter(reserving: 40)
        writer.appendVarint(form)
        writer.append(digests.state)
        writer.append(digests.content)
        return writer.bytes
    }

    /// - Throws: ``StrataError`` for the note of another release's form.
    static func digests(noted bytes: [UInt8]) throws -> Digests {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let found = try reader.readVarint("the form of the views")
            guard found == form else {
                throw StrataError(
                    .newerFormat, "The views are of another release's form; they are folded again.",
                    .init(expected: "form \(form)", found: "\(found)"))
            }
            return try reader.readDigests()
        }
    }
}
