import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: reading")
struct ReadContractTests {
    @Test("A cursor begins at the first commit at or behind any offset", arguments: LogKind.allCases)
    func everyOffset(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(40)
        let commits = try fixture.log.allCommits()
        for offset in 0...fixture.log.end.offset + 2 {
            let expected = commits.drop { $0.offset < offset }
            try check(try fixture.log.commits(from: offset).elementsEqual(expected), "from \(offset)")
        }
        #expect(try fixture.log.commits(from: .max).isEmpty)
    }

    @Test("A cursor sees what is appended after its end, across segments", arguments: LogKind.allCases)
    func laterAppends(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(2)
        var cursors = [try fixture.log.read(from: 1), try fixture.log.read(from: fixture.log.end.offset + 1)]
        var seen: [[Commit]] = [[], []]
        let start = fixture.log.end.offset
        for _ in 0..<25 {
            for index in cursors.indices {
                while let commit = try cursors[index].next() { seen[index].append(commit) }
                let again = try cursors[index].next()
                #expect(again == nil)
            }
            try fixture.fill(2, bytesPerEvent: 3_000)
        }
        for index in cursors.indices {
            while let commit = try cursors[index].next() { seen[index].append(commit) }
        }
        let all = try fixture.log.allCommits()
        #expect(seen[0] == all)
        #expect(seen[1] == Array(all.drop { $0.offset <= start }))
    }

    @Test("The chain value at every offset is that of its commit", arguments: LogKind.allCases)
    func chains(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        #expect(try fixture.log.chain(at: 0) == 0)
        try fixture.fill(40)
        let chains = Dictionary(uniqueKeysWithValues: try fixture.log.allCommits().map { ($0.offset, $0.chain) })
        for offset in 1...fixture.log.end.offset {
            if let chain = chains[offset] {
                try check(try fixture.log.chain(at: offset) == chain, "chain at \(offset)")
            } else {
                #expect(thrownCode { _ = try fixture.log.chain(at: offset) } == .outOfRange)
            }
        }
        #expect(thrownCode { _ = try fixture.log.chain(at: fixture.log.end.offset + 1) } == .outOfRange)
        #expect(thrownCode { _ = try fixture.log.chain(at: .max) } == .outOfRange)
    }

    @Test("The chain value of a commit in parts is that of its last part", arguments: LogKind.predictable)
    func chainOfParts(kind: LogKind) throws {
        if case .stutteringDisk = kind { return }
        let fixture = try LogFixture(kind, touches: LogFixture.noTouches)
        try fixture.append([fixture.makeRaw(5 << 20, isRandom: true), fixture.makeRaw(10, isRandom: true)])
        try fixture.append([fixture.makeRaw(9 << 20, isRandom: false)])
        for commit in try fixture.log.allCommits() {
            #expect(try fixture.log.chain(at: commit.offset) == commit.chain)
            #expect(try fixture.log.commits(from: commit.offset).first == commit)
        }
    }

    @Test("The first commit not before a time, around every time", arguments: LogKind.allCases)
    func times(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        #expect(try fixture.log.firstOffset(notBefore: .min) == nil)
        try fixture.fill(60)
        let commits = try fixture.log.allCommits()
        let times = Set(commits.flatMap { [$0.time - 1, $0.time, $0.time + 1] }).union([Int64.min, 0, Int64.max])
        for time in times.sorted() {
            let expected = commits.first { $0.time >= time }?.offset
            try check(try fixture.log.firstOffset(notBefore: time) == expected, "time \(time)")
        }
    }

    @Test("History was replaced nowhere", arguments: LogKind.allCases)
    func base(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(3)
        #expect(try fixture.log.base() == nil)
    }
}
