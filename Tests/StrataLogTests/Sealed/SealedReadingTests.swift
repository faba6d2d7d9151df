import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A sealed segment gives what the segment gave", .timeLimit(.minutes(3)))
struct SealedReadingTests {
    @Test("Commits of every size, by offset, in order from everywhere, by time, with their chain values")
    func commits() throws {
        try withSeeds(6) { seed in
            let sizes = [[40], [5, 900, 3_000], [60, 70_000], [200_000]][Int(seed % 4)]
            let count = [1_200, 90, 12, 4][Int(seed % 4)]
            let sealed = try SealedStore(seed: seed, count: count, bytesPerEvent: sizes)
            try check(sealed.sealedPaths.count >= 2, "there is nothing to look at")
            for path in sealed.sealedPaths {
                let header = try SegmentHeader.read(try sealed.store.disk.open(path, .read))
                #expect(header.form == .blocks)
            }
            // The writer and a reader beside it.
            let log = try sealed.store.open()
            let reader = try sealed.store.reader()
            for commit in sealed.commits {
                try #expect(log.commit(at: commit.offset) == commit)
                try #expect(reader.commit(at: commit.offset) == commit)
                try #expect(reader.chain(at: commit.offset) == commit.chain)
            }
            for commit in sealed.commits.prefix(100) {
                for time in [commit.time - 1, commit.time] {
                    let first = sealed.commits.first { $0.time >= time }
                    try #expect(reader.firstOffset(notBefore: time) == first?.offset)
                }
            }
            for start in stride(from: 1, through: UInt64(sealed.commits.count), by: max(7, count / 20)) {
                var cursor = try log.read(from: start)
                for commit in sealed.commits[Int(start - 1)...] { try #expect(cursor.next() == commit) }
                try #expect(cursor.next() == nil)
            }
            try log.close()
        }
    }

    @Test("Change lists against a look at every payload, from every offset, in pages of any size")
    func changes() throws {
        try withSeeds(4) { seed in
            let zones: [UInt64] = seed % 2 == 0 ? [1, 2, 3] : Array(1...40) + [5_000, 70_000, 1 << 40]
            let sealed = try SealedStore(seed: seed, count: 240, bytesPerEvent: [40, 900], zones: zones)
            let reader = try sealed.store.reader()
            for zone in zones + [99_999] {
                let all = try sealed.touches(of: zone, after: 0)
                for start in [0, 1, 7, 60, UInt64(sealed.commits.count) - 1] {
                    let expected = all.filter { $0.offset > start }
                    for limit in [1, 3, Int.max] {
                        var (found, after, isDone): ([ZoneTouch], UInt64, Bool) = ([], start, false)
                        while !isDone {
                            let page = try reader.touches(zone: zone, after: after, limit: limit)
                            found += page.touches
                            (after, isDone) = (page.readThrough, !page.moreComing)
                        }
                        #expect(found == expected)
                    }
                }
            }
        }
    }

    @Test("The filter misses no record that a segment touches, and few others pass it")
    func filter() throws {
        let sealed = try SealedStore(seed: 3, count: 500, bytesPerEvent: [40, 300])
        var (passed, asked) = (0, 0)
        for segment in try sealed.store.reader().sealedSegments {
            var touched: Set<[UInt8]> = []
            for zone: UInt64 in [1, 2, 3] {
                var touches: [ZoneTouch] = []
                _ = try segment.collect(zone: zone, after: 0, limit: Int.max, into: &touches)
                for touch in touches where touch.kind == .recordSaved || touch.kind == .recordDeleted {
                    try #expect(segment.mayTouch(touch.key, in: zone))
                    touched.insert(touch.key)
                }
            }
            try check(touched.count > 20, "there is nothing to find")
            #expect(segment.index.recordNameCount >= UInt64(touched.count))
            for number in 0..<2_000 {
                asked += 1
                if try segment.mayTouch(Array("no such record \(number)".utf8), in: 1) { passed += 1 }
            }
        }
        #expect(passed * 30 < asked, "\(passed) of \(asked)")
    }

    @Test("A segment has the names that it uses, and those that they refer to")
    func names() throws {
        let sealed = try SealedStore(seed: 5, count: 120)
        for segment in try sealed.store.reader().sealedSegments {
            var used = UsedNames()
            for commit in sealed.commits
            where segment.index.commits[0].firstOffset <= commit.offset && commit.offset <= segment.lastOffset {
                commit.payload.withUnsafeBytes { used.add($0) }
            }
            let names = try segment.names()
            let keys = names.map { UsedNames.Key($0.name.namespace, $0.ordinal) }
            #expect(keys == keys.sorted { ($0.namespace.rawValue, $0.ordinal) < ($1.namespace.rawValue, $1.ordinal) })
            let expected = try used.resolved(SealedStore.lookup)
            #expect(names == expected)
            #expect(names.contains { if case .zone = $0.name { true } else { false } })
            #expect(names.contains { if case .database = $0.name { true } else { false } })
        }
    }

    @Test("Sealing makes segments smaller, and again sealed there is nothing to do")
    func again() throws {
        let sealed = try SealedStore(seed: 7, count: 300, bytesPerEvent: [900], noise: 0.3)
        for segment in try sealed.store.reader().sealedSegments {
            let size = try sealed.store.disk.open(segment.segment.path, .read).size()
            #expect(size < segment.segment.frameBytes)
        }
        let log = try sealed.store.open()
        try #expect(!log.sealNext())
        try log.close()
        #expect(thrownError { _ = try log.sealNext() }?.code == .closed)
    }

    @Test("A log whose newest segment was lost, so that it ends with a sealed one, goes on behind it")
    func lostSuccessor() throws {
        let sealed = try SealedStore(seed: 8)
        let newest = sealed.store.newestFirstOffset
        let store = sealed.store.copy()
        try store.disk.remove(store.segment(newest))
        let kept = sealed.commits.filter { $0.offset < newest }
        try SealedStore.readAll(store, expecting: kept)
        let log = try store.open()
        #expect(log.end == kept.last?.position)
        var more = CommitSequence(seed: 9)
        var next = more.next()
        next.time = (kept.last?.time ?? 0) + 1
        let appended = try log.append([next], expecting: log.end)
        #expect(appended.positions.first?.offset == newest)
        try log.close()
        let reader = try store.reader()
        try #expect(reader.commit(at: newest)?.payload == next.payload)
    }

    @Test("Readers that began before a segment was sealed go on behind it")
    func meanwhile() throws {
        let store = TinyStore(seed: 4)
        let log = try store.open()
        var sequence = CommitSequence(seed: 4)
        let made = sequence.next(80, bytesPerEvent: 1_500)
        for commit in made { _ = try log.append([commit], expecting: log.end) }
        let commits = expectedCommits(made)
        let readers = [try store.reader(), try store.reader()]
        var cursors = try (1...60).map { try (log.read(from: $0), readers[0].read(from: $0), $0) }
        for index in cursors.indices {
            try #expect(cursors[index].0.next() == commits[index])
            try #expect(cursors[index].1.next() == commits[index])
        }
        // One reader knows the index of the first segment already, the other one nothing.
        try #expect(readers[0].commit(at: 2) == commits[1])
        while try log.sealNext() {}
        for reader in readers {
            for commit in commits { try #expect(reader.commit(at: commit.offset) == commit) }
            try #expect(
                reader.touches(zone: 1, after: 0, limit: Int.max) == log.touches(zone: 1, after: 0, limit: Int.max))
        }
        for index in cursors.indices {
            for expected in commits[(index + 1)...] {
                try #expect(cursors[index].0.next() == expected)
                try #expect(cursors[index].1.next() == expected)
            }
        }
        try log.close()
    }
}
