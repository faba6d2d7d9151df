import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// Copies a store as it was after a given commit into a directory of its own, for programs that inspect a state
/// themselves.
///
/// ```swift
/// let past = try BisectionStore(of: store, at: "Notes.strata")
/// try past.make(at: "/tmp/Then.strata", through: 1_207)
/// ```
/// The new store has the same commits, with the same IDs and times at the same offsets, and the same assets and keys.
/// Its own ID differs. Changes to it leave the original as it is.
package struct BisectionStore {
    private let log: any EventLog
    private let directory: String
    private let container: String
    private let files = RealFileSystem()

    /// - Parameter directory: the directory of the store's files.
    package init(of store: Store, at directory: String) throws {
        log = store.log
        self.directory = directory
        container = try LogReader.open(at: directory).identity.containerIdentifier
    }

    /// - Parameters:
    ///   - path: a path where nothing exists yet, in an existing directory.
    ///   - offset: the offset of a commit, or the floor.
    /// - Throws: ``StrataError`` if the log cannot be read or the new store cannot be written.
    package func make(at path: String, through offset: UInt64) throws {
        guard try log.floor.offset == 0 || log.readBase() != nil else {
            throw StrataError(
                .outOfRange, "The store cannot be copied, because its beginning was removed by compaction.",
                .init(found: "a floor at \(log.floor.offset)"))
        }
        try SegmentedLog.make(at: path, withBaseOf: log, container: container) { copy in
            if log.floor.offset < offset {
                try log.forEachBatch(after: log.floor.offset, through: offset) { try Self.append($0, to: copy) }
            }
        }
        if try files.exists(directory + "/assets") {
            try files.linkAll(in: directory + "/assets", to: path + "/assets")
        }
        // Only the owner of the file may read the keys.
        if try files.exists(directory + "/keys") {
            try files.copy(directory + "/keys", to: path + "/keys", .createPrivate)
        }
    }

    // MARK: Commits

    private static func append(_ batch: [NewCommit], to copy: SegmentedLog) throws {
        var rest = batch[...]
        while !rest.isEmpty {
            do throws(AppendFailure) {
                rest = rest.dropFirst(try copy.append(Array(rest), expecting: copy.end).count)
            } catch {
                throw error.cause
                    ?? StrataError(.invalidArgument, "Commits cannot be copied.", .init(found: "\(error)"))
            }
        }
    }
}
