import StrataLog
import StrataModel
import StrataStore
import TestSupport
import Testing

@testable import StrataReplay

@Suite("A log is judged again")
struct JudgedLogTests {
    @Test("A good log gives the same commits and the same state, from any commit on")
    func goodLog() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        for round in 0..<3 {
            let fixture = try RerunFixture(at: path)
            var base = try fixture.save("milk\(round)", ["rank": .int64(1)])
            for number in 0..<5 {
                base = try fixture.save("milk\(round)", ["rank": .int64(Int64(number))], base: base)
            }
            try fixture.save("milk\(round)", ["rank": .int64(9)], as: RerunFixture.bert)
            try fixture.delete("milk0")
            try fixture.store.close()
        }
        let store = try Store.open(at: path, access: .readOnly)
        defer { try? store.close() }
        let judged = try JudgedLog.of(store)
        #expect(judged.verdict == .same && judged.isWhole && judged.unjudgedCount == 0, "\(judged)")
        #expect(judged.judgedCount == Int(judged.end) && judged.end == store.offset)
        #expect(try judged.digests == store.snapshot().digests())
        let later = try JudgedLog.of(store, from: 5)
        #expect(later.isSame && later.digests == judged.digests && later.judgedCount == Int(judged.end) - 4)
        let nothing = try JudgedLog.of(store, from: judged.end + 1)
        #expect(nothing.verdict == .empty && nothing.isWhole && nothing.first > nothing.end)
        #expect(throws: StrataError.self) { try JudgedLog.of(store, from: judged.end + 2) }
    }

    @Test("A store without commits has nothing to differ in")
    func emptyStore() throws {
        let store = try Store.inMemory()
        defer { try? store.close() }
        let judged = try JudgedLog.of(store)
        #expect(judged.verdict == .empty && judged.end == 0)
    }

    @Test("Canary: a commit that the rules would not make is found, and ends the judging")
    func changedCommit() throws {
        let fixture = try RerunFixture()
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], policy: .allKeys)
        try fixture.save("tea", ["rank": .int64(3)])
        let log = MemoryLog()
        var cursor = try fixture.store.log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            if commit.offset == 3 {
                // As if its save had looked at no version.
                let place = try #require(envelope.events.firstIndex { $0.kind == .recordSaved })
                var saved = try RecordSavedEvent(decoding: envelope.events[place].body)
                saved.policy = .changedKeys
                envelope.events[place] = try saved.event()
            }
            let changed = NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...])
            _ = try log.append([changed], expecting: log.end)
        }
        let store = try Store(on: log)
        defer { try? store.close() }
        let judged = try JudgedLog.of(store)
        #expect(judged.verdict == .differs && !judged.isWhole && judged.difference?.offset == 3)
        #expect(judged.commitCount == 3 && judged.end == 4)
    }
}
