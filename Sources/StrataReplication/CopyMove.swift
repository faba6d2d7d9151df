import StrataLog
import StrataModel
import StrataSystem

/// Changes what a store's directory is: an independent store, or a copy of one that a sequencer orders.
package enum CopyMove {
    /// The state of a directory after it was changed.
    package struct Result: Sendable {
        package let identity: StoreIdentity
        package let end: Position
    }

    package static func isCopy(at path: String, _ files: any FileSystem = RealFileSystem()) throws -> Bool {
        try files.exists(StorePaths(path).replica)
    }

    static func refuseCopy(at path: String, _ files: any FileSystem) throws {
        guard try isCopy(at: path, files) else { return }
        throw StrataError(
            .invalidArgument, "The directory is a copy that follows a sequencer; choose another directory.",
            .init(path: path))
    }

    /// Turns a copy into an independent store, which only its own directory orders from now on.
    package static func detach(at path: String, platform: Platform = Platform()) throws -> Result {
        try open(path, platform) { log, paths, files in
            // Removes the file that makes the directory a copy first, because an address alone means nothing.
            for file in [paths.replica, paths.sequencer] where try files.exists(file) { try files.remove(file) }
            try files.syncDirectory(paths.store)
            return Result(identity: log.identity, end: log.end)
        }
    }

    /// Gives a sequencer without entries the identity and the whole history of a store, and makes the store's directory
    /// a copy that follows it. A sequencer that has the beginning of the history gets the rest.
    ///
    /// - Parameters:
    ///   - address: the sequencer's address, to be noted in the directory.
    ///   - prepare: called once nothing speaks against it, before any entry with commits is sent.
    /// - Throws: `.alreadyExists` if the sequencer has another store; ``PartedHistories`` if it has other commits;
    ///   `.outOfRange` if the store's history was compacted.
    package static func attach(
        at path: String, to sequencer: any Sequencer, address: String, platform: Platform = Platform(),
        prepare: (StoreIdentity) throws -> Void = { _ in }
    ) throws -> Result {
        try open(path, platform) { log, paths, files in
            guard log.floor.offset == 0 else {
                throw StrataError(
                    .outOfRange, "The store's history was compacted, so a sequencer cannot have all of it.",
                    .init(path: path, expected: "commit 1", found: "\(log.floor.offset + 1) as the first one"))
            }
            // An earlier call that was interrupted is completed.
            let isBegun = try sequencer.last() > 0 && SequencedHistory(sequencer).identity == log.identity
            if !isBegun {
                try log.identity.create(in: sequencer, platform) {
                    try HistoryPublisher.check(log, after: .start, through: log.end.offset, for: sequencer)
                    try prepare(log.identity)
                }
            }
            var publisher = try HistoryPublisher(of: log, log.identity, to: sequencer, platform: platform)
            try publisher.compare()
            guard publisher.surplus == 0 else {
                throw PartedHistories(offset: log.end.offset + 1, reason: "only the sequencer has that commit")
            }
            if isBegun { try prepare(log.identity) }
            try publisher.publish()
            // The next opening reads all entries, and compares them with the commits.
            try CopyMark.start(platform.random).write(paths, files, store: log.identity.storeID)
            try CopyAddress.write(address, paths, files)
            return Result(identity: log.identity, end: log.end)
        }
    }

    /// Opens a store's log, so that no program writes it while `body` runs.
    private static func open(
        _ path: String, _ platform: Platform, _ body: (SegmentedLog, StorePaths, any FileSystem) throws -> Result
    ) throws -> Result {
        let log = try SegmentedLog.open(at: path, options: LogOptions(createsStore: false), platform: platform)
        let result: Result
        do { result = try body(log, StorePaths(path), log.platform.files) } catch {
            try? log.close()
            throw error
        }
        try log.close()
        return result
    }
}

extension StoreIdentity {
    /// Makes this the identity of a sequencer that has no entries.
    ///
    /// - Parameter check: called before anything is written.
    /// - Throws: `.alreadyExists` if it has entries.
    package func create(
        in sequencer: any Sequencer, _ platform: Platform = Platform(), check: () throws -> Void = {}
    ) throws {
        if try sequencer.last() > 0 {
            // A trimmed sequencer does not say which store it has.
            let found = try? SequencedHistory(sequencer).identity
            throw StrataError(
                .alreadyExists, "The sequencer has a store already; 'strata join' makes a copy of it.",
                .init(found: found.map { "store \($0.storeID) of \($0.containerIdentifier)" }))
        }
        try check()
        let first = try SharedIdentity.offer(self, to: sequencer, platform, milliseconds: 10_000)
        guard case .identity(self, _) = first.content else {
            throw StrataError(.alreadyExists, "Another process has created a store in the sequencer.")
        }
    }
}
