import Glibc
import StrataLog
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem
import TestSupport

/// Strata with tasks in it.
final class StrataTasks: AsyncTaskStore {
    let engine = "Strata"
    let configuration = ""
    let paths: [String]
    private let path: String
    private let records: TaskRecords
    private let opened: Lock<Store?> = Lock(nil)
    private let files = CountedFiles(RealFileSystem())

    init(path: String, _ records: TaskRecords) {
        self.path = path
        self.records = records
        paths = [path]
    }

    /// The store, opened when it is wanted first.
    func store() throws -> Store {
        try opened.withLock { opened in
            if let opened { return opened }
            var options = StoreOptions()
            // As much memory for pages as the peers have for theirs.
            options.pages.maximumDirtyPages = 256 << 8
            let store = try Store.open(at: path, options: options, platform: Platform(files: files))
            opened = store
            return store
        }
    }

    /// Writes a log of commits as requests make them, and lets the store fold it.
    func fill(_ count: Int) throws {
        try GrownLog.make(at: path, records, count: count)
        let store = try store()
        for key in TaskRecords.indexedKeys {
            try store.declareIndexes(type: TaskRecords.type, fields: [(key, .queryable)])
        }
        try rest()
    }

    func resume(after count: Int) throws {
        try settle()
        try awaitBackground()
        ProcessUsage.awaitRest()
    }

    func addUsers(_ count: Int) throws {
        for user in 1...count {
            _ = try store().modify(TaskRecords.makingZone, as: TaskRecords.actor(ofUser: user))
        }
    }

    // MARK: Writing

    /// - Parameter writes: of one user.
    func write(_ writes: [TaskWrite]) throws {
        try check(store().modify(records.modifying(writes), as: actor(of: writes)), writes.count)
    }

    func write(_ writes: [TaskWrite]) async throws {
        try check(await store().modify(records.modifying(writes), as: actor(of: writes)), writes.count)
    }

    private func actor(of writes: [TaskWrite]) -> Actor { TaskRecords.actor(ofUser: writes.first?.user ?? 0) }

    private func check(_ answer: Answer, _ count: Int) throws {
        for save in answer.result.saves { _ = try save.get() }
        for case let refusal? in answer.result.deletes { throw refusal }
        guard answer.result.saves.count + answer.result.deletes.count == count else {
            throw BenchError(message: "an answer lacks results")
        }
    }

    func settle() throws {
        let store = try store()
        store.awaitIndexes()
        guard store.indexLag == 0 else { throw BenchError(message: "the indexes are behind") }
    }

    /// Waits until all closed segments are sealed, which begins when nothing was written for a second or two.
    func awaitBackground() throws {
        guard let log = try store().log.segments else { return }
        let end = secondsNow() + 900
        while log.waitingCount > 0 {
            if let failure = log.sealingFailure { throw failure }
            guard secondsNow() < end else { throw BenchError(message: "closed segments are not sealed") }
            usleep(20_000)
        }
    }

    /// Opens the store once more: what a store leaves to its next opening, that one writes in its checkpoints.
    func rest() throws {
        try settle()
        try close()
        try settle()
        try awaitBackground()
        ProcessUsage.awaitRest()
    }

    func reader(isShared: Bool) throws -> any TaskReader {
        StrataReader(try store(), readsPerSnapshot: isShared ? 1 : readsPerSnapshot)
    }

    var writeCounts: WriteCounts? { files.counts }

    /// The bytes on the disk of the log, of the views and of all else.
    func spaceParts() throws -> (log: Double, views: Double, other: Double) {
        var parts = (log: 0.0, views: 0.0, other: allocatedBytes(of: path))
        for name in try RealFileSystem().list(path) {
            let bytes = allocatedBytes(of: "\(path)/\(name)")
            if name == "log" { parts.log += bytes } else if name.hasPrefix("views") { parts.views += bytes }
        }
        parts.other -= parts.log + parts.views
        return parts
    }

    func close() throws {
        try opened.withLock { store in
            try store?.close()
            store = nil
        }
    }
}

private final class StrataReader: TaskReader {
    private let store: Store
    private let readsPerSnapshot: Int
    private var snapshot: StoreSnapshot
    private var reads = 0
    private let queries: [Query]

    init(_ store: Store, readsPerSnapshot: Int) {
        self.store = store
        self.readsPerSnapshot = readsPerSnapshot
        snapshot = store.snapshot()
        // A program makes its predicates once, as it prepares its statements.
        queries = (0..<1_000).compactMap { priority in
            (try? PredicateParser.parse("priority = \(priority)")).map {
                Query(TaskRecords.type, where: $0, zone: TaskRecords.zone)
            }
        }
    }

    func fetch(_ keys: ArraySlice<TaskKey>, _ reading: Reading) throws -> Int {
        reads += 1
        if reads % readsPerSnapshot == 0 { snapshot = store.snapshot() }
        if keys.count == 1, let key = keys.first {
            return try read(snapshot.record(key.id, in: TaskRecords.database, as: TaskRecords.actor), reading)
        }
        let ids = keys.map(\.id)
        return try snapshot.records(ids, in: TaskRecords.database, as: TaskRecords.actor).reduce(0) {
            try $0 + read($1.get(), reading)
        }
    }

    private func read(_ record: Record, _ reading: Reading) throws -> Int {
        try reading == .inPlace ? look(at: record) : values(of: record)
    }

    /// Looks at all values where they are; returns their number.
    private func look(at record: Record) throws -> Int {
        let (count, sum) = try record.lookInPlace()
        guard count == TaskRecords.keys.count, sum != 0 else { throw BenchError(message: "a record lacks values") }
        return count
    }

    private func values(of record: Record) throws -> Int {
        var count = 0
        try record.forEachField { _, _ in count += 1 }
        guard count == TaskRecords.keys.count else { throw BenchError(message: "a record lacks values") }
        return count
    }

    func query(priority: Int, limit: Int) throws -> Int {
        let page = try store.query(
            .new(queries[priority]), in: TaskRecords.database, limit: limit, as: TaskRecords.actor)
        for record in page.matches { _ = try values(of: record) }
        return page.matches.count
    }

    func feed(after place: FeedPlace?, limit: Int) throws -> FeedPage {
        var token: FeedToken?
        if case .token(let known)? = place { token = known }
        let page = try store.zoneChanges(
            of: TaskRecords.zone, in: TaskRecords.database, since: token, limit: limit, as: TaskRecords.actor)
        for record in page.changed { _ = try values(of: record) }
        return FeedPage(
            count: page.changed.count + page.deleted.count, place: .token(page.token), hasMore: page.moreComing)
    }
}

/// A store whose log was written without judging anything, which is as fast as the disk.
enum GrownLog {
    static func make(at path: String, _ records: TaskRecords, count: Int) throws {
        do {
            let store = try Store.open(at: path)
            _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
            _ = try store.modify(records.saving(0..<1), as: TaskRecords.actor)
            try store.close()
        }
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system))
        let last = try CommitHeader(last: log)
        let commitLength = records.shape.requestCount
        for start in stride(from: 1, to: count, by: commitLength) {
            var commit = CommitBuilder()
            for number in start..<min(count, start + commitLength) {
                var event = RecordSavedEvent(
                    .create, RecordKey(zone: last.zone, name: TaskRecords.name(number)), type: last.type)
                event.fields = records.fields(of: number)
                try commit.append(event)
            }
            let payload = commit.payload(last.header)
            let id = Identifier(high: 2, low: UInt64(start))
            _ = try log.append([NewCommit(id: id, time: last.time, payload: payload[...])], expecting: log.end)
        }
        try log.close()
    }

    /// The header of a log's last commit and the names of its one record, so that more like it can be written.
    private struct CommitHeader {
        let header: EnvelopeHeader
        let zone: UInt64
        let type: UInt64
        let time: Int64

        init(last log: SegmentedLog) throws {
            guard let commit = try log.commit(at: log.end.offset) else { throw BenchError(message: "the log is empty") }
            time = commit.time
            var found: (EnvelopeHeader, UInt64, UInt64)?
            try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                let header = try walker.header()
                while let event = try walker.next() {
                    guard event.kind == .recordSaved else { continue }
                    let saved = try RecordSavedView(payload, in: event.body)
                    found = (header, saved.zone, saved.type)
                }
            }
            guard let found else { throw BenchError(message: "the last commit saves nothing") }
            (header, zone, type) = found
        }
    }
}
