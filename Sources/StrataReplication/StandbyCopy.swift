import StrataLog
import StrataModel
import StrataSystem

/// A second directory with the commits of a store that one process writes: a warm standby without a sequencer.
///
/// ```swift
/// let standby = try StandbyCopy(at: "/backup/Notes.strata", of: reader.identity)
/// try standby.catchUp(with: reader)
/// ```
package final class StandbyCopy {
    private static let batchBytes = 4 << 20

    private let log: SegmentedLog

    package var end: Position { log.end }

    /// Opens the directory, or creates it with the identity of the store.
    package init(at path: String, of identity: StoreIdentity, platform: Platform = Platform()) throws {
        try CopyMove.refuseCopy(at: path, platform.files)
        log = try SegmentedLog.open(
            at: path, copyOf: identity, options: LogOptions(durability: .system, spaceStepBytes: 0),
            platform: platform)
    }

    /// Appends the commits that the source has and this directory lacks, syncs them, and returns their number.
    ///
    /// - Throws: ``PartedHistories`` if the source does not continue this history.
    @discardableResult
    package func catchUp(with source: any HistoryLog) throws -> UInt64 {
        let begin = log.end
        guard begin.offset >= source.floor.offset else {
            throw StrataError(
                .outOfRange, "The history was compacted, so its first commits cannot be copied.",
                .init(offset: begin.offset + 1, expected: "a commit after \(source.floor.offset)"))
        }
        guard begin.offset <= source.end.offset else {
            throw PartedHistories(
                offset: source.end.offset + 1, reason: "only the copy has that commit, so it was written by itself")
        }
        guard try source.has(begin) else {
            let offset = try HistoryComparison(log, source).difference ?? begin.offset
            throw PartedHistories(offset: offset, reason: "the copy has another one there")
        }
        var batches = try CommitBatches(
            of: source, after: begin, through: source.end.offset, byteLimit: Self.batchBytes)
        while case var batch = try batches.next()[...], !batch.isEmpty {
            while !batch.isEmpty { batch = batch.dropFirst(try log.appendAll(Array(batch)).count) }
        }
        try log.sync()
        return log.end.offset - begin.offset
    }

    package func close() throws { try log.close() }
}

extension SegmentedLog {
    /// Appends commits that another log has at the end, without syncing them. Notes erasures first, so that the
    /// next writer of the directory carries them out.
    func appendAll(_ commits: [NewCommit]) throws -> [Position] {
        guard commits.contains(where: { Envelope.erases($0.payload) }) else { return try appendWithoutSync(commits) }
        var positions: [Position] = []
        try beginErasure { positions = try appendWithoutSync(commits) }
        return positions
    }

    private func appendWithoutSync(_ commits: [NewCommit]) throws -> [Position] {
        do throws(AppendFailure) { return try appendLazily(commits, expecting: end).positions } catch {
            throw error.cause
                ?? StrataError(.invalidArgument, "The copy does not accept an entry.", cause: error)
        }
    }
}
