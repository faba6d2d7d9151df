import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A flipped bit anywhere")
struct BitFlipTests {
    @Test("In a closed log it is found, with its place, and nothing wrong is ever read", arguments: 0..<4)
    func everyByte(variant: Int) throws {
        let forge = try StoreForge.three(.mark, seed: UInt64(variant) + 1)
        let store = forge.store
        // The mark is the one part that may go without a commit going with it.
        let newest = SeenFrame.all(in: try store.disk.content(of: store.segment(6)))
        let mark = try #require(newest.last).range
        var found: Set<StrataError.Code> = []
        for path in store.disk.paths where path.hasSuffix(".seg") || path.hasSuffix("STORE") {
            let count = try store.disk.content(of: path).count
            for byte in 0..<count where byte % 4 == variant {
                let bit = (byte / 4 * 3 + variant) % 8
                try store.disk.flipBit(path, byte: byte, bit: bit)
                let isMark = path == store.segment(6) && mark.contains(byte)
                do {
                    try checkReading(store, forge.commits)
                    if let code = try checkVerdict(store, forge.commits, mayBeTorn: isMark) { found.insert(code) }
                } catch { throw Mismatch("\(path), byte \(byte), bit \(bit): \(error)") }
                try store.disk.flipBit(path, byte: byte, bit: bit)
            }
        }
        #expect(store.verify().damage == nil)
        #expect(found.isSuperset(of: [.wrongMagic, .badChecksum]))
    }

    /// Whatever opens gives right commits or an error, never others and never fewer without a word.
    private func checkReading(_ store: TinyStore, _ all: [Commit]) throws {
        guard let reader = try? store.reader() else { return }
        if let read = try? reader.allCommits() { try check(read == all, "a reader gave \(read.count) commits") }
        for commit in all {
            if let read = try? reader.commit(at: commit.offset) {
                try check(read == commit, "commit \(commit.offset) is another")
            }
        }
        let copy = store.copy()
        guard let log = try? copy.open() else { return }
        try check(log.end == all.last?.position, "a shorter log was opened: \(log.recovery)")
        if let read = try? log.allCommits() { try check(read == all, "a writer gave \(read.count) commits") }
    }

    private func checkVerdict(
        _ store: TinyStore, _ all: [Commit], mayBeTorn: Bool
    ) throws -> StrataError.Code? {
        let report = store.verify()
        guard let damage = report.damage else {
            try check(mayBeTorn && report.unfinishedTail != nil, "nobody noticed")
            try check(report.end == all.last?.position, "a commit was lost with the mark")
            return nil
        }
        try check(damage.context.path != nil, "no path in \(damage)")
        try check(damage.context.position != nil || damage.code == .unsealedSegment, "no position in \(damage)")
        return damage.code
    }

    @Test("In the zeros behind the end it costs no commit")
    func zerosBehind() throws {
        let forge = try StoreForge.three(.mark, zeros: 600)
        let store = forge.store
        let path = store.segment(6)
        let count = try store.disk.content(of: path).count
        for byte in count - 600..<count {
            let copy = store.copy()
            try copy.disk.flipBit(path, byte: byte, bit: byte % 8)
            let log = try copy.open()
            try check(try log.allCommits() == forge.commits, "byte \(byte)")
            try check(log.recovery.tornTail?.lastOffset == forge.commits.last?.offset, "the report of byte \(byte)")
        }
    }

    @Test("In a log that was not closed, only the last batch can look unfinished")
    func openLog() throws {
        let forge = try StoreForge.three(.open)
        let path = forge.store.segment(6)
        let frames = SeenFrame.all(in: try forge.store.disk.content(of: path))
        #expect(frames.count == 4)
        for frame in frames {
            for byte in frame.range {
                let store = forge.store.copy()
                try store.disk.flipBit(path, byte: byte, bit: (byte * 5) % 8)
                let isLast = frame == frames[3]
                do {
                    let log = try store.open()
                    try check(isLast && log.end.offset == frame.offset - 1, "byte \(byte): \(log.recovery)")
                } catch let error as StrataError {
                    try check(!isLast, "byte \(byte) of the last frame: \(error)")
                    try check(error.context.position == UInt64(frame.position), "the place of byte \(byte): \(error)")
                    try check(error.context.segment == 6 && error.context.path == path, "\(error)")
                }
            }
        }
    }

    @Test("In the floor it is found")
    func floor() throws {
        let forge = try StoreForge.three()
        let store = forge.store
        let mark = FloorMark(
            storeID: try store.reader().identity.storeID, position: forge.commits[2].position,
            time: forge.commits[2].time)
        let path = store.log + "/FLOOR"
        store.disk.setContent(mark.encoded(), of: path)
        #expect(try store.reader().allCommits() == Array(forge.commits[3...]))
        for byte in mark.encoded().indices {
            try store.disk.flipBit(path, byte: byte, bit: byte % 8)
            for error in [thrownError { _ = try store.open() }, store.verify().damage] {
                try check(error?.context.path == path && error?.context.position != nil, "byte \(byte)")
            }
            try store.disk.flipBit(path, byte: byte, bit: byte % 8)
        }
    }
}
