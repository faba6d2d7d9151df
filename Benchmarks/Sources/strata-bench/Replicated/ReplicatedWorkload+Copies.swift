import Glibc
import StrataConnections
import StrataLog
import StrataModel
import StrataQuery
import StrataReplication
import StrataStore
import StrataSystem

extension ReplicatedWorkload {
    // MARK: A new copy

    /// A copy that has nothing, beside one that has the log but must fold it.
    func copying(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        // Made once for all kinds of servers; it goes with the folder.
        let source = try ToolStore.find(in: folder, size, progress).path
        let address = try servers.create("copying")
        let moved = "\(folder)/moved"
        defer { removeTree(moved) }
        let reader = try LogReader.open(at: source)
        let standby = try StandbyCopy(at: moved, of: reader.identity)
        try standby.catchUp(with: reader)
        try standby.close()
        guard let sequencer = try SequencerKind.place(address).sequencer(Platform()) else { return [] }
        let end = try CopyMove.attach(at: moved, to: sequencer, address: "\(address)").end.offset
        sequencer.close()
        progress("new copies of \(end) commits")
        let copy = "\(folder)/copy"
        var (new, folded): ([Double], [Double]) = ([], [])
        for _ in 0..<min(3, size.rounds) {
            new.append(try opening(copy, address, end))
            removeTree("\(copy)/views")
            folded.append(try opening(copy, address, end))
            removeTree(copy)
        }
        return [
            measurement(
                "a new copy of \(end) commits, ready to serve", "s", new, beside: "fold of its log", folded,
                bar: .ratioAtMost(1.3))
        ]
    }

    /// Returns the seconds until a copy has answered a first read.
    private func opening(_ path: String, _ address: ServerAddress, _ end: UInt64) throws -> Double {
        let start = secondsNow()
        let store = try Self.open(path, address)
        let snapshot = store.snapshot()
        let note = RecordID(
            ToolStore.note(ToolStore.askedNote), zone: ToolStore.zone(ofNote: ToolStore.askedNote))
        _ = try? snapshot.record(note, in: TaskRecords.database, as: Actor(user: ToolStore.user))
        let seconds = secondsNow() - start
        guard snapshot.offset == end else {
            throw BenchError(message: "the copy ends at \(snapshot.offset) of \(end)")
        }
        try store.close()
        return seconds
    }

    // MARK: Reads

    /// Reads of a copy, beside those of a store with the same records and no servers.
    func reads(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        let count = size.isQuick ? 20_000 : 200_000
        progress("reads of \(count) records")
        let (copy, _) = try create(servers, "reads")
        defer { remove(copy, "reads") }
        let local = try Store.open(at: "\(folder)/local.strata", options: .embedded)
        defer { remove(local, "local") }
        try Self.prepare(local, records)
        for store in [copy, local] { try fill(store, count) }
        let random = SeededRandom(seed: 3)
        let ids = (0..<10_000).map { _ in TaskRecords.id(Int(random.next(below: UInt64(count)))) }
        let fetches = try alternate([copy, local].map { store in { try self.fetches(store, ids) } })
        let queries = try alternate([copy, local].map { store in { try self.queries(store) } })
        return [
            measurement(
                "fetches by ID", "fetches/s", fetches[0].map(\.rate), beside: "local store", fetches[1].map(\.rate),
                bar: .ratioAtLeast(0.95)),
            measurement(
                "queries of an indexed field", "queries/s", queries[0].map(\.rate), beside: "local store",
                queries[1].map(\.rate), bar: .ratioAtLeast(0.95)),
        ]
    }

    private func fill(_ store: Store, _ count: Int) throws {
        for start in stride(from: 0, to: count, by: 1_000) {
            try Self.save(start..<min(count, start + 1_000), records, store)
        }
        try store.declareIndexes(type: TaskRecords.type, fields: [("priority", .queryable)])
        store.awaitIndexes()
    }

    private func fetches(_ store: Store, _ ids: [RecordID]) throws -> Load {
        var next = 0
        return try Load.alone(seconds: seconds / 2) {
            let snapshot = store.snapshot()
            for _ in 0..<100 {
                let id = ids[next % ids.count]
                next += 1
                try snapshot.record(id, in: TaskRecords.database, as: TaskRecords.actor).forEachField { _, _ in }
            }
            return 100
        }
    }

    private func queries(_ store: Store) throws -> Load {
        var next = 0
        return try Load.alone(seconds: seconds / 2) {
            next += 1
            let condition = try PredicateParser.parse("priority = \(next * 7_919 % 1_000)")
            let query = Query(TaskRecords.type, where: condition, order: [], zone: TaskRecords.zone)
            let page = try store.query(.new(query), in: TaskRecords.database, limit: 200, as: TaskRecords.actor)
            for record in page.matches { try record.forEachField { _, _ in } }
            return 1
        }
    }
}
