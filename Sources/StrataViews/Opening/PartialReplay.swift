import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Folds a part of a log: everything but records, and the records of some names. All other records stay as they are in
/// the nearest checkpoint, or do not exist.
///
/// A request that depends on few records can be judged in such a state, which takes a fraction of the time of folding
/// everything. Most of that time is reading the log.
struct PartialReplay {
    private let log: any EventLog
    /// Hashes of the names. Another name with the same hash is folded too, which does no harm.
    private let hashes: Set<UInt64>

    /// - Parameter names: the names of the records, in any zone.
    init(_ log: any EventLog, names: Set<[UInt8]>) {
        self.log = log
        hashes = Set(names.map { name in name.withUnsafeBytes { Self.hash($0) } })
    }

    /// The events of a commit to fold.
    private enum Part {
        case none
        case some
        case all
        /// The commit changes accounts or shares, which count or bring together other records.
        case unknown
    }

    /// Folds the log to its end. Returns false if accounts or shares are stored, because the records alone are not
    /// enough then; the pages are of no use in that case.
    func run(in pages: PageStore) throws -> Bool {
        if pages.snapshot().foldedOffset(ViewTree.records) < log.floor.offset {
            try Replay(log: log, pages: pages).run(upTo: log.floor.offset)
        }
        let fold = Fold(pages.fork())
        guard fold.fork.isEmpty(ViewTree.users), fold.fork.isEmpty(ViewTree.shares) else { return false }
        let end = log.end.offset
        guard fold.offset < end else { return true }
        var cursor = try log.read(from: fold.offset + 1)
        while let commit = try cursor.next() {
            switch try commit.payload.withUnsafeBytes({ try part(of: $0) }) {
            case .unknown: return false
            // The last commit sets the offset of the state.
            case .none where commit.offset < end: continue
            case .all: try apply(commit.payload, of: commit, to: fold)
            case .none, .some: try apply(try remainder(of: commit.payload)[...], of: commit, to: fold)
            }
        }
        try fold.publish(to: pages)
        return true
    }

    private func apply(_ payload: ArraySlice<UInt8>, of commit: Commit, to fold: Fold) throws {
        try payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }

    private func part(of payload: UnsafeRawBufferPointer) throws -> Part {
        var walker = try EventWalker(payload)
        var (isAnyFolded, isAnySkipped) = (false, false)
        while let event = try walker.next() {
            switch event.kind {
            case .userChanged, .shareSaved, .memberChanged, .sharedRecord: return .unknown
            default:
                if try isFolded(event.kind, UnsafeRawBufferPointer(rebasing: payload[event.body])) {
                    isAnyFolded = true
                } else {
                    isAnySkipped = true
                }
            }
        }
        return isAnyFolded ? isAnySkipped ? .some : .all : .none
    }

    private func isFolded(_ kind: EventKind, _ body: UnsafeRawBufferPointer) throws -> Bool {
        if kind.isOfRecord { return hashes.contains(Self.hash(try RecordEvent(kind, body).nameBytes)) }
        // Tokens matter only to requests that have one.
        if kind == .clientTokenKept { return false }
        return !kind.isAudit || ViewTree.maintainer(applying: kind) != nil
    }

    /// Returns a payload whose other events are replaced by audits that change nothing, so that the rest keep their
    /// places.
    private func remainder(of payload: ArraySlice<UInt8>) throws -> [UInt8] {
        var envelope = try Envelope(decoding: payload)
        for index in envelope.events.indices {
            let event = envelope.events[index]
            let isFolded = try event.body.withUnsafeBytes { try self.isFolded(event.kind, $0) }
            if !isFolded { envelope.events[index] = Event(.requestRefused, body: []) }
        }
        return envelope.encoded()
    }

    /// Returns the FNV-1a hash of a name.
    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}

extension Views {
    /// Opens the state at the end of a log with some of its records, for reading: the nearest checkpoint, with
    /// everything but records and the records of some names folded on. Other records are older, or missing.
    ///
    /// Returns nil if the store has accounts with limits or shares: the limits and rights depend on all records.
    ///
    /// - Parameters:
    ///   - directory: the directory of the page file; nil if there is none.
    ///   - names: the names of the records, in any zone.
    package static func openForReading(
        _ log: any EventLog, store: Identifier, in directory: String?, records names: Set<[UInt8]>,
        platform: Platform = Platform(), options: PageStoreOptions = PageStoreOptions()
    ) throws -> OpenedViews? {
        let pages =
            if let directory {
                try openNearest(log, store: store, in: directory, platform: platform, options: options)
            } else {
                try PageStore.inMemory(options: options)
            }
        let checkpointOffset = pages.snapshot().foldedOffset(ViewTree.records)
        guard try PartialReplay(log, names: names).run(in: pages) else { return nil }
        return OpenedViews(
            views: Views(pages: pages, log: log), finding: .whole, reasons: [], checkpointOffset: checkpointOffset)
    }
}

extension Views {
    /// Opens a state in which some records are replaced by those at the end of a log, for judging requests about these
    /// records alone: everything else is as in the given state.
    ///
    /// - Parameters:
    ///   - newest: a state of pages of which no checkpoint is written.
    ///   - records: the encoded states at the end of the log; nil for a record that did not exist.
    package static func openForReading(
        _ log: any EventLog, turningBack newest: Snapshot, to records: [RecordKey: [UInt8]?]
    ) throws -> OpenedViews {
        let pages = PageStore.branch(on: newest)
        let fork = pages.fork()
        var (indexes, names) = (IndexWriter(try IndexCatalog(newest)), NameCache())
        for (record, state) in records {
            let key = ViewKeys.record(record)
            let database = try names.database(ofZone: record.zone, in: fork)
            let old = try newest.get(ViewTree.records, key: key) { [UInt8]($0) }
            try (old ?? []).withUnsafeBytes { oldState in
                try (state ?? []).withUnsafeBytes { newState in
                    try key.withUnsafeBytes {
                        try indexes.update(
                            $0, in: database, from: old.map { _ in oldState }, to: state.map { _ in newState }, fork)
                    }
                }
            }
            guard let state else {
                try fork.delete(ViewTree.records, key: key)
                continue
            }
            try fork.put(ViewTree.records, key: key, row: state)
        }
        for tree in ViewTree.folded { try fork.setFoldedOffset(tree, log.end.offset) }
        try pages.publish(fork)
        return OpenedViews(
            views: Views(pages: pages, log: log), finding: .whole, reasons: [], checkpointOffset: log.end.offset)
    }
}
