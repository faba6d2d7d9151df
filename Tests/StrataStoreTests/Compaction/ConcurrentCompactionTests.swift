import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("History is let go of beside those who read and write", .timeLimit(.minutes(3)))
struct ConcurrentCompactionTests {
    private static func client(_ notes: CompactedNotes, _ number: Int, _ count: Int) throws {
        let name = "writer-\(number)"
        for round in 0..<count {
            let text = "\(round) " + CompactedNotes.noise(900, seed: UInt64(round))
            let answer = try notes.store.modify(
                NoteRequest.saving([name, "\(name)-\(round)"], [("title", .string(text))]), as: CompactedNotes.anna)
            for save in answer.result.saves { _ = try save.get() }
            let record = try notes.record(name)
            guard case .string(text)? = try record["title"] else { throw Lost(what: "\(name), \(round)") }
        }
    }

    private struct Lost: Error {
        var what: String
    }

    @Test("Writers and devices lose nothing to it")
    func besideWriters() throws {
        let notes = try CompactedNotes()
        _ = try notes.store.modify(NoteRequest.makingZones(), as: CompactedNotes.anna)
        let failures = Lock<[String]>([])
        let isOver = Lock(false)
        @Sendable func watched(_ body: () throws -> Void) {
            do { try body() } catch { failures.withLock { $0.append("\(error)") } }
        }
        let store = notes.store
        let writers = try (0..<4).map { number in
            try WorkerThread(name: "writer") { watched { try Self.client(notes, number, 60) } }
        }
        let compactions = Lock(0)
        let compactor = try WorkerThread(name: "compactor") {
            watched {
                while !isOver.withLock({ $0 }) {
                    let (floor, end) = (store.log.floor.offset, min(store.offset, store.durableOffset))
                    guard end > floor + 4 else {
                        usleep(500)
                        continue
                    }
                    try store.compact(before: floor + (end - floor) / 2 + 1)
                    compactions.withLock { $0 += 1 }
                }
            }
        }
        let follower = try WorkerThread(name: "follower") {
            watched {
                var token: FeedToken?
                var seen: Set<String> = []
                while true {
                    let isLast = isOver.withLock { $0 }
                    do {
                        let page = try notes.page(since: token, limit: 7)
                        for record in page.changed { seen.insert(record.id.name) }
                        token = page.token
                        if isLast, !page.moreComing { break }
                    } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
                        (token, seen) = (nil, [])
                    }
                }
                if seen.count != 4 * 61 { throw Lost(what: "\(seen.count) records were told") }
            }
        }
        for writer in writers { writer.join() }
        isOver.withLock { $0 = true }
        compactor.join()
        follower.join()
        #expect(failures.withLock { $0 } == [])
        #expect(compactions.withLock { $0 } > 0)
        let digests = try notes.digests
        #expect(try Views.inMemory(store.log).trees.snapshot().digests() == digests)
        var again = notes
        try again.reopen(removingViews: true)
        #expect(try again.digests == digests)
        try again.store.close()
    }

    @Test("Closing the store ends it: it is done, or nothing has happened")
    func closing() throws {
        for delay in [0, 200, 1_000, 4_000] as [useconds_t] {
            var notes = try CompactedNotes()
            try notes.fill(15)
            let end = notes.store.offset
            let digests = try notes.digests
            let outcome = Lock<StrataError.Code?>(nil)
            let store = notes.store
            let thread = try WorkerThread(name: "compactor") {
                let code = thrownCode { try store.compact(before: end) }
                outcome.withLock { $0 = code }
            }
            usleep(delay)
            try store.close()
            thread.join()
            let code = outcome.withLock { $0 }
            #expect(code == nil || code == .closed)
            try notes.reopen()
            #expect((notes.store.log.floor.offset == end - 1) == (code == nil))
            #expect(try notes.digests == digests)
            #expect(!notes.disk.paths.contains { $0.hasSuffix("base.new") })
            try notes.store.close()
        }
    }

    @Test("Who reads beside it goes on with the base where what comes next is gone")
    func follower() throws {
        var notes = try CompactedNotes()
        try notes.fill(10)
        let platform = Platform(files: notes.disk, time: notes.time)
        let reader = try StoreEngine.openForReading(at: CompactedNotes.path, notes.options, platform) { _ in }
        let before = reader.reader.make(reader.views.trees.snapshot())
        let offset = before.offset
        #expect(offset == notes.store.offset)
        try notes.fill(20)
        try notes.store.compact(before: notes.store.offset - 2)
        for _ in 0..<3 { _ = try reader.refresh() }
        let now = reader.reader.make(reader.views.trees.snapshot())
        #expect(try now.offset == notes.store.offset && now.digests() == notes.digests)
        #expect(before.offset == offset)
        try reader.close()
        // One that comes later begins with the base.
        let late = try StoreEngine.openForReading(at: CompactedNotes.path, notes.options, platform) { _ in }
        #expect(try late.views.trees.snapshot().digests() == notes.digests)
        let plan = try late.compactionPlan(to: notes.store.offset)
        #expect(plan.zones.first { $0.zone == NoteRequest.zone }?.recordCount == 9)
        try late.close()
        try notes.reopen()
        try notes.store.close()
    }
}
