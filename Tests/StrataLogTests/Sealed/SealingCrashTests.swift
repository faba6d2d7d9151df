import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Sealing and what comes between", .timeLimit(.minutes(5)))
struct SealingCrashTests {
    private static func makeStore(_ disk: SimulatedDisk = SimulatedDisk()) throws -> (TinyStore, [Commit]) {
        let store = TinyStore(disk, seed: 6)
        var sequence = CommitSequence(seed: 6, noise: 0.9)
        let made = sequence.next(70, bytesPerEvent: 2_000)
        let log = try store.open()
        for commit in made { _ = try log.append([commit], expecting: log.end) }
        try log.close()
        return (store, expectedCommits(made))
    }

    @Test("A loss of power before every changing call leaves every commit, and a log that opens and seals on")
    func powerLoss() throws {
        let (store, commits) = try Self.makeStore()
        let log = try store.open()
        let failures = Monitor<[String]>([])
        let frozen = Monitor(0)
        store.disk.beforeCall = { [weak disk = store.disk] kind, path in
            guard let disk, kind.isChange else { return }
            let number = frozen.withLock { number in
                number += 1
                return UInt64(number)
            }
            for keeping in SimulatedDisk.PowerLoss.allCases {
                let left = TinyStore(disk.afterPowerLoss(seed: number, keeping: keeping), seed: 99)
                do { try Self.checkSurvivor(left, commits) } catch {
                    failures.withLock { $0.append("before \(kind) of \(path), \(keeping): \(error)") }
                }
            }
        }
        while try log.sealNext() {}
        store.disk.beforeCall = nil
        try log.close()
        #expect(failures.withLock { $0 } == [])
        #expect(frozen.withLock { $0 } > 12)
        try Self.checkSurvivor(store, commits)
    }

    private static func checkSurvivor(_ left: TinyStore, _ commits: [Commit]) throws {
        try SealedStore.readAll(left, expecting: commits)
        let again = try left.open()
        try check(!left.disk.paths.contains(left.log + "/sealing"), "the draft is still there")
        while try again.sealNext() {}
        try again.close()
        try SealedStore.readAll(left, expecting: commits)
        try check(try left.reader().sealedSegments.count == left.segments.count - 1, "not all are sealed")
    }

    @Test("Writing that fails leaves the segment as it was, and the log as usable as before")
    func faults() throws {
        let (template, commits) = try Self.makeStore()
        for kind in SimulatedDisk.CallKind.allCases where kind.isChange {
            for call in 1...4 {
                let store = template.copy()
                let log = try store.open()
                store.disk.fail(kind, at: call, with: .errno(EIO), on: "/log")
                _ = thrownError { while try log.sealNext() {} }
                store.disk.heal()
                for commit in commits { try #expect(log.commit(at: commit.offset) == commit) }
                var more = CommitSequence(seed: 11)
                var next = more.next()
                next.time = (commits.last?.time ?? 0) + 1
                _ = try log.append([next], expecting: log.end)
                while try log.sealNext() {}
                #expect(try store.reader().sealedSegments.count == store.segments.count - 1, "\(kind) \(call)")
                try log.close()
            }
        }
    }

    @Test("A log that is closed while it seals in the background closes at once and is whole")
    func closing() throws {
        for round in 0..<8 {
            let (store, commits) = try Self.makeStore()
            let log = try store.open()
            try log.startSealing { _ in nil }
            if round % 2 == 1 { usleep(UInt32(round) * 1_000) }
            try log.close()
            try SealedStore.readAll(store, expecting: commits)
        }
    }

    @Test("A segment that cannot be sealed stays as it is and keeps no other from being sealed")
    func oneFails() throws {
        let (store, commits) = try Self.makeStore()
        let first = try #require(store.segments.first)
        let log = try store.open()
        store.disk.fail(.read, from: 1, with: .errno(EIO), on: String(first.suffix(24)))
        try log.startSealing { _ in nil }
        let wanted = store.segments.count - 2
        let areSealed = try eventually {
            try store.segments.dropFirst().filter { try Self.isSealed($0, store) }.count >= wanted
        }
        try check(areSealed, "the others are not sealed")
        log.stopSealing()
        #expect(log.sealingFailure?.code == .inputOutput)
        store.disk.heal()
        try #expect(!Self.isSealed(first, store))
        for commit in commits { try #expect(log.commit(at: commit.offset) == commit) }
        try log.close()
    }

    @Test("Sealing ends at any commit of a segment, so that closing does not wait for the rest")
    func stopped() throws {
        let (store, _) = try Self.makeStore()
        let log = try store.open()
        let segment = try #require(log.catalog.read { $0.segments.first })
        let source = try store.disk.open(segment.path, .read)
        let draft = try store.disk.open(store.path + "/draft", .create)
        var pulses = 0
        #expect(throws: SealingStopped.self) {
            _ = try SegmentSealer(segment, into: draft).seal(
                from: source, touches: LogFixture.noTouches, lookup: { _ in nil },
                pulse: {
                    pulses += 1
                    if pulses == 3 { throw SealingStopped() }
                })
        }
        #expect(pulses == 3)
        try log.close()
    }

    private static func isSealed(_ path: String, _ store: TinyStore) throws -> Bool {
        let bytes = try store.disk.content(of: path)
        return try SegmentHeader(decoding: Array(bytes.prefix(LogFormat.headerBlockMaximumBytes)), path: path).form
            == .blocks
    }

    @Test("History that is let go while it is sealed does not come back")
    func trim() throws {
        let (store, commits) = try Self.makeStore()
        let log = try store.open()
        try log.sealNext()
        let floor = try log.trim(to: 40)
        #expect(floor.offset > 1)
        while try log.sealNext() {}
        for commit in commits where commit.offset > floor.offset {
            try #expect(log.commit(at: commit.offset) == commit)
        }
        #expect(thrownError { _ = try log.commit(at: 1) }?.code == .outOfRange)
        #expect(!store.disk.paths.contains(store.segment(1)))
        try log.close()
    }
}
