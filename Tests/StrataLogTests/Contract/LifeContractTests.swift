import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: letting go, syncing, closing")
struct LifeContractTests {
    @Test("A trim raises the floor no further than asked, and what is below is gone", arguments: LogKind.allCases)
    func trim(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(60)
        let all = try fixture.log.allCommits()
        let end = fixture.log.end
        for wanted in [0, 1, all[20].offset, all[10].offset, all[45].offset] {
            let before = fixture.log.floor
            let floor = try fixture.log.trim(to: wanted)
            #expect(floor == fixture.log.floor)
            #expect(floor.offset <= max(wanted, before.offset) && floor.offset >= before.offset)
            #expect(floor == .start || all.contains { $0.position == floor })
            #expect(try fixture.log.chain(at: floor.offset) == floor.chain)
            #expect(try fixture.log.allCommits() == all.filter { $0.offset > floor.offset })
            try checkBelow(fixture.log, floor: floor.offset)
        }
        #expect(fixture.log.floor.offset > 0)
        #expect(fixture.log.end == end)
        try fixture.fill(5)
        #expect(ReferenceChain.firstBreak(in: try fixture.log.allCommits(), after: fixture.log.floor) == nil)
    }

    private func checkBelow(_ log: any EventLog, floor: UInt64) throws {
        for offset in 1..<max(floor, 1) + 1 where offset <= floor {
            #expect(thrownCode { _ = try log.commit(at: offset) } == .outOfRange)
            #expect(thrownCode { _ = try log.read(from: offset) } == .outOfRange)
            if offset < floor { #expect(thrownCode { _ = try log.chain(at: offset) } == .outOfRange) }
        }
        guard floor > 0 else { return }
        #expect(thrownCode { _ = try log.read(from: 0) } == .outOfRange)
        #expect(thrownCode { _ = try log.touches(zone: 1, after: floor - 1, limit: 1) } == .outOfRange)
        #expect(try log.touches(zone: 1, after: floor, limit: 1_000).readThrough == log.end.offset)
    }

    @Test("Times are looked for behind the floor only", arguments: LogKind.allCases)
    func timesAfterTrim(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(60)
        _ = try fixture.log.trim(to: fixture.log.end.offset - 5)
        let commits = try fixture.log.allCommits()
        for time in Set(commits.map(\.time)).union([0, .min, .max]) {
            let found = try fixture.log.firstOffset(notBefore: time)
            #expect(found == commits.first { $0.time >= time }?.offset)
        }
    }

    @Test("Behind a sync everything is durable", arguments: LogKind.allCases)
    func sync(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        #expect(fixture.log.durableEnd == .start)
        for _ in 0..<10 {
            try fixture.fill(4)
            #expect(fixture.log.durableEnd.offset <= fixture.log.end.offset)
            try fixture.log.sync()
            #expect(fixture.log.durableEnd == fixture.log.end)
        }
    }

    @Test("A closed log refuses everything, and closing again is nothing", arguments: LogKind.allCases)
    func closed(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(5)
        let log = fixture.log
        let offset = try #require(try log.allCommits().dropFirst(2).first?.offset)
        var cursor = try log.read(from: 1)
        let end = log.end
        try log.close()
        try log.close()
        #expect(log.end == end)
        let commits = fixture.make(1)
        #expect(appendOutcome { _ = try log.append(commits, expecting: end) } == "not written")
        #expect(thrownCode { _ = try log.append(commits, expecting: end) } == .closed)
        #expect(thrownCode { _ = try log.commit(at: offset) } == .closed)
        #expect(thrownCode { _ = try log.read(from: offset) } == .closed)
        #expect(thrownCode { _ = try log.chain(at: offset) } == .closed)
        #expect(thrownCode { _ = try log.firstOffset(notBefore: 0) } == .closed)
        #expect(thrownCode { _ = try log.touches(zone: 1, after: 0, limit: 1) } == .closed)
        #expect(thrownCode { _ = try log.trim(to: 1) } == .closed)
        #expect(thrownCode { try log.sync() } == .closed)
        #expect(thrownCode { _ = try cursor.next() } == .closed)
    }
}
