import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A tail that nobody finished")
struct TornTailTests {
    @Test("Every prefix of the newest segment holds just the commits that end before the cut")
    func everyPrefix() throws {
        let forge = try StoreForge.three()
        let path = forge.store.segment(6)
        let content = try forge.store.disk.content(of: path)
        let frames = SeenFrame.all(in: content)
        #expect(frames.map(\.kind) == [1, 1, 1, 1, 4])
        #expect(frames.last?.range.upperBound == content.count)
        for cut in 0..<content.count {
            let store = forge.store.copy()
            try store.disk.truncateFile(path, to: cut)
            if cut < 128 {
                let error = thrownError { _ = try store.open() }
                try check(error.map { [.wrongMagic, .impossibleLength].contains($0.code) } == true, "cut \(cut)")
                try check(error?.context.path == path && error?.context.position != nil, "the place of cut \(cut)")
            } else {
                try checkCut(store, path, content, frames, cut, forge.commits)
            }
        }
    }

    private func checkCut(
        _ store: TinyStore, _ path: String, _ content: [UInt8], _ frames: [SeenFrame], _ cut: Int, _ all: [Commit]
    ) throws {
        let whole = frames.filter { $0.range.upperBound <= cut }
        let count = 5 + whole.filter { $0.kind == 1 }.count
        let end = whole.last?.range.upperBound ?? 128
        let reader = try store.reader()
        try check(try reader.allCommits() == Array(all[..<count]), "a reader of cut \(cut)")
        let log = try store.open()
        try check(try log.allCommits() == Array(all[..<count]), "the commits of cut \(cut)")
        let isPartial = content[end..<cut].contains { $0 != 0 }
        let tail = log.recovery.tornTail
        try check((tail != nil) == isPartial && (reader.unfinishedTail != nil) == isPartial, "the report of cut \(cut)")
        if let tail {
            try check(tail.path == path && tail.position == end && tail.lastOffset == UInt64(count), "\(cut): \(tail)")
            // Zeros at the end of what was cut may or may not be counted.
            try check(tail.byteCount > 0 && tail.byteCount <= cut - end + 7, "bytes of cut \(cut): \(tail.byteCount)")
        }
        let rest = try store.disk.content(of: path)
        try check(!rest[end...].contains { $0 != 0 }, "nothing is left behind the end of cut \(cut)")
        var sequence = CommitSequence(seed: UInt64(cut))
        var more = sequence.next()
        more.time += log.endTime ?? 0
        _ = try log.append([more], expecting: log.end)
        try log.close()
        let again = try store.open()
        let expected = Array(all[..<count]) + expectedCommits([more], after: all[count - 1].position)
        try check(try again.allCommits() == expected, "appending behind cut \(cut)")
        try check(again.recovery.tornTail == nil, "a tail is cut once")
    }

    @Test("A tail of zeros of any length is no tail", arguments: [0, 1, 7, 8, 63, 64, 511, 4_096])
    func zeros(count: Int) throws {
        for ending in [StoreForge.Ending.open, .mark, .seal] {
            let forge = try StoreForge.three(ending, zeros: count)
            let log = try forge.store.open()
            #expect(log.recovery.tornTail == nil)
            #expect(log.recovery.madeSuccessor == (ending == .seal))
            #expect(try log.allCommits() == forge.commits)
        }
    }

    @Test("Garbage of any length behind the last commit is cut to its end", arguments: [1, 8, 63, 64, 65, 500, 70_000])
    func garbage(count: Int) throws {
        for gap in [0, 8, 640] {
            let forge = try StoreForge.three(.mark)
            let path = forge.store.segment(6)
            let content = try forge.store.disk.content(of: path)
            var generator = SeededGenerator(seed: UInt64(count))
            let garbage = generator.nextBytes(count - 1) + [1]
            forge.store.disk.setContent(content + [UInt8](repeating: 0, count: gap) + garbage, of: path)
            let log = try forge.store.open()
            let tail = try #require(log.recovery.tornTail)
            #expect(tail.position == content.count)
            #expect(tail.byteCount >= gap + count && tail.byteCount < gap + count + 8)
            #expect(try log.allCommits() == forge.commits)
            let size = try forge.store.disk.content(of: path).count
            #expect(try !forge.store.disk.content(of: path)[content.count..<size].contains { $0 != 0 })
        }
    }

    @Test("A commit of several parts is there as a whole or not at all")
    func parts() throws {
        var sequence = CommitSequence(seed: 9)
        let commits = [50, 9 << 20, 9].map { sequence.raw($0, isRandom: $0 < 100) }
        var forge = try StoreForge()
        try forge.addSegment([[commits[0]], [commits[1]], [commits[2]]], .mark)
        let path = forge.store.segment(1)
        let content = try forge.store.disk.content(of: path)
        let frames = SeenFrame.all(in: content)
        #expect(frames.map(\.kind) == [1, 2, 2, 2, 1, 4])
        #expect(frames.map(\.offset) == [1, 2, 2, 2, 3, 3])
        func open(_ store: TinyStore) throws -> SegmentedLog {
            try SegmentedLog.open(
                at: store.path, options: TinyStore.options, platform: store.platform, touches: LogFixture.noTouches)
        }
        for (index, frame) in frames.enumerated() {
            for cut in [frame.position + 1, frame.position + 64, frame.range.upperBound - 1, frame.range.upperBound] {
                let store = forge.store.copy()
                try store.disk.truncateFile(path, to: cut)
                let end = cut == frame.range.upperBound ? index + 1 : index
                let whole = end < 1 ? 0 : end < 4 ? 1 : end < 5 ? 2 : 3
                try check(try open(store).allCommits() == Array(forge.commits[..<whole]), "cut at \(cut)")
            }
        }
    }

    @Test("A tail that was lost and grew again gives other chain values")
    func grownAgain() throws {
        var forge = try StoreForge()
        var sequence = CommitSequence(seed: 1)
        let kept = sequence.next(3)
        try forge.addSegment([kept], .mark)
        let log = try forge.store.open()
        _ = try log.append(sequence.next(2), expecting: log.end)
        let lost = log.end
        let again = try forge.store.left(keeping: .nothingUnsynced).open()
        #expect(again.end == lost, "synced commits are not lost by a loss of power alone")
        let shorter = forge.store.copy()
        let frames = SeenFrame.all(in: try shorter.disk.content(of: shorter.segment(1)))
        // Three commits and the mark stay.
        try shorter.disk.truncateFile(shorter.segment(1), to: frames[3].range.upperBound)
        let grown = try shorter.open()
        #expect(grown.end.offset == 3)
        _ = try grown.append(sequence.next(4), expecting: grown.end)
        #expect(try grown.chain(at: 3) == log.chain(at: 3))
        #expect(try grown.chain(at: 4) != log.chain(at: 4))
        #expect(try grown.chain(at: lost.offset) != lost.chain)
        let commits = sequence.next(1)
        #expect(appendOutcome { _ = try grown.append(commits, expecting: lost) } == "conflict")
    }

    @Test("Judging a long tail reads it a few times, not once for each frame in it")
    func longTail() throws {
        var sequence = CommitSequence(seed: 1, noise: 1)
        var forge = try StoreForge()
        // Behind the small frames comes more than is read at once.
        let small = sequence.next(3_000, events: 1, bytesPerEvent: 20)
        try forge.addSegment([sequence.next(2), small + sequence.next(1, events: 1, bytesPerEvent: 3 << 20)], .open)
        let path = forge.store.segment(1)
        let frames = SeenFrame.all(in: try forge.store.disk.content(of: path))
        try forge.store.disk.overwrite(path, at: frames[2].position, with: [0])
        let log = try forge.store.open()
        #expect(log.end.offset == 2 && log.recovery.tornTail != nil)
        #expect(forge.store.disk.count(of: .read) < 100, "\(forge.store.disk.count(of: .read)) reads")
    }

    @Test("Garbage with many zeros in it is found to its end without many reads")
    func sparseGarbage() throws {
        let forge = try StoreForge.three(.mark)
        let path = forge.store.segment(6)
        let count = try forge.store.disk.content(of: path).count
        let sparse = (0..<3_000).flatMap { _ in [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 1, count: 8) }
        let garbage = sparse + [UInt8](repeating: 1, count: 3 << 20)
        try forge.store.disk.overwrite(path, at: count, with: garbage)
        let log = try forge.store.open()
        #expect(log.recovery.tornTail?.byteCount == garbage.count)
        #expect(forge.store.disk.count(of: .read) < 100, "\(forge.store.disk.count(of: .read)) reads")
    }

    @Test("Parts that disagree about the length of their commit are damage")
    func partsOfOtherLengths() throws {
        var sequence = CommitSequence(seed: 9)
        var forge = try StoreForge()
        try forge.addSegment([[sequence.raw(9 << 20, isRandom: false)]], .mark)
        let path = forge.store.segment(1)
        let part = SeenFrame.all(in: try forge.store.disk.content(of: path))[1]
        // As many parts, of the same lengths but for the last.
        try forge.store.disk.patchFrame(path, part, at: 64, with: littleEndian(UInt64(10 << 20)))
        let error = thrownError {
            _ = try SegmentedLog.open(
                at: forge.store.path, options: TinyStore.options, platform: forge.store.platform,
                touches: LogFixture.noTouches)
        }
        #expect(error?.code == .brokenSequence && error?.context.position == UInt64(part.position))
    }
}
