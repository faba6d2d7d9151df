import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A base stands for the commits up to its horizon", .timeLimit(.minutes(3)))
struct BaseFileTests {
    private static func fill(_ store: TinyStore, _ count: Int = 40) throws -> [Commit] {
        var sequence = CommitSequence(seed: 9, noise: 0.9)
        let made = sequence.next(count, events: 3, bytesPerEvent: 2_000)
        let log = try store.open()
        for commit in made { _ = try log.append([commit], expecting: log.end) }
        try log.close()
        return expectedCommits(made)
    }

    private static func payloads(_ seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        return [[], [1], generator.nextBytes(70_000), [UInt8](repeating: 7, count: 300_000), generator.nextBytes(900)]
    }

    private static func all(_ reader: BaseReader?) throws -> [[UInt8]]? {
        guard var reader else { return nil }
        var found: [[UInt8]] = []
        while let payload = try reader.next() { found.append(Array(payload)) }
        try check(try reader.next() == nil, "there is something behind the end")
        return found
    }

    private static func write(_ log: SegmentedLog, at offset: UInt64, seed: UInt64) throws -> BaseDraft {
        var rest = payloads(seed)[...]
        return try log.writeBase(at: offset) { rest.popFirst()?[...] }
    }

    @Test("At every offset: what is behind it stays, what is up to it goes, also after opening again")
    func everyOffset() throws {
        let template = TinyStore()
        let commits = try Self.fill(template)
        for offset in 1...UInt64(commits.count) {
            let store = template.copy()
            let log = try store.open()
            if offset % 2 == 0 { while try log.sealNext() {} }
            let draft = try Self.write(log, at: offset, seed: offset)
            try #expect(Self.all(try draft.read()) == Self.payloads(offset))
            try #expect(log.base() == nil && log.commit(at: 1) == commits[0])
            try log.adopt(draft)
            for isReopened in [false, true] {
                let log = isReopened ? try store.open() : log
                let reader = try store.reader()
                try #expect(log.base() == commits[Int(offset) - 1].position)
                #expect(log.floor == commits[Int(offset) - 1].position)
                try #expect(Self.all(try log.readBase()) == Self.payloads(offset))
                try #expect(Self.all(try reader.readBase()) == Self.payloads(offset))
                for commit in commits {
                    if commit.offset > offset {
                        try #expect(reader.commit(at: commit.offset) == commit)
                    } else {
                        #expect(thrownError { _ = try log.commit(at: commit.offset) }?.code == .outOfRange)
                    }
                }
                try log.close()
            }
            let firsts = store.segments.compactMap { LogFormat.firstOffset(ofSegmentNamed: String($0.suffix(24))) }
            #expect(firsts.dropFirst().allSatisfy { $0 > offset + 1 }, "\(firsts) at \(offset)")
        }
    }

    @Test("A later base takes the place of an earlier one; letting go farther ends it")
    func replacement() throws {
        let store = TinyStore()
        let commits = try Self.fill(store, 80)
        let log = try store.open()
        try log.adopt(try Self.write(log, at: 5, seed: 1))
        try log.adopt(try Self.write(log, at: 25, seed: 2))
        try #expect(Self.all(try log.readBase()) == Self.payloads(2))
        #expect(store.disk.paths.filter { $0.hasSuffix(".base") }.count == 1)
        let old = try Self.write(log, at: 30, seed: 3)
        let floor = try log.trim(to: 79)
        #expect(floor.offset > 30 && floor.offset < 80)
        try #expect(log.base() == nil && log.readBase() == nil)
        #expect(!store.disk.paths.contains { $0.hasSuffix(".base") })
        #expect(thrownError { try log.adopt(old) }?.code == .outOfRange)
        #expect(thrownError { _ = try Self.write(log, at: 20, seed: 1) }?.code == .outOfRange)
        #expect(thrownError { _ = try Self.write(log, at: 81, seed: 1) }?.code == .outOfRange)
        try log.close()
        try #expect(store.reader().commit(at: 80) == commits[79])
    }

    @Test("Power that is lost before any changing call leaves the log as it was, or with its base, and whole")
    func powerLoss() throws {
        let store = TinyStore()
        let commits = try Self.fill(store)
        let log = try store.open()
        try log.adopt(try Self.write(log, at: 3, seed: 1))
        let failures = Monitor<[String]>([])
        let seen = Monitor<Set<UInt64>>([])
        store.disk.beforeCall = { [weak disk = store.disk] kind, path in
            guard let disk, kind.isChange else { return }
            for (number, keeping) in SimulatedDisk.PowerLoss.allCases.enumerated() {
                let left = TinyStore(disk.afterPowerLoss(seed: UInt64(number), keeping: keeping), seed: 99)
                do {
                    let again = try left.open()
                    let horizon = try again.base()?.offset ?? 0
                    let expected = Self.payloads(horizon == 3 ? 1 : 2)
                    try check([3, 27].contains(horizon), "the base is at \(horizon)")
                    try check(try Self.all(try again.readBase()) == expected, "another base")
                    for commit in commits where commit.offset > horizon {
                        try check(try again.commit(at: commit.offset) == commit, "commit \(commit.offset)")
                    }
                    let bases = left.disk.paths.filter { $0.contains(".base") || $0.hasSuffix("base.new") }
                    try check(bases.count == 1, "\(bases) are left")
                    seen.withLock { _ = $0.insert(horizon) }
                    try again.close()
                } catch { failures.withLock { $0.append("before \(kind) of \(path), \(keeping): \(error)") } }
            }
        }
        try log.adopt(try Self.write(log, at: 27, seed: 2))
        store.disk.beforeCall = nil
        #expect(failures.withLock { $0 } == [])
        #expect(seen.withLock { $0 } == [3, 27])
        try log.close()
    }

    @Test("Every flipped byte of a base is found by who reads it")
    func flips() throws {
        let store = TinyStore()
        _ = try Self.fill(store, 12)
        let log = try store.open()
        var rest = [[UInt8](repeating: 3, count: 500), [1, 2, 3], [UInt8](repeating: 9, count: 90)][...]
        try log.adopt(try log.writeBase(at: 9) { rest.popFirst()?[...] })
        let path = try #require(store.disk.paths.first { $0.hasSuffix(".base") })
        for position in 0..<(try store.disk.content(of: path).count) {
            try store.disk.flipBit(path, byte: position, bit: position % 8)
            let error = thrownError { _ = try Self.all(try log.readBase()) }
            #expect(error?.context.path == path, "byte \(position)")
            try store.disk.flipBit(path, byte: position, bit: position % 8)
        }
        try #expect(Self.all(try log.readBase())?.count == 3)
        try store.disk.truncateFile(path, to: try store.disk.content(of: path).count - 64)
        #expect(thrownError { _ = try Self.all(try log.readBase()) } != nil)
        try log.close()
        try store.disk.removeFile(path)
        #expect(thrownError { _ = try store.open() }?.code == .missingSegment)
        #expect(thrownError { _ = try store.reader() }?.code == .missingSegment)
    }
}
