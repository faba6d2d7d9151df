import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Rewriting segments, damage and loss of power", .timeLimit(.minutes(5)))
struct RewritingDamageTests {
    private static let eraser = ErasureStore.eraser("first", "second")

    private static func erase(in log: SegmentedLog) throws {
        try log.rewrite(through: log.end.offset, lookup: { _ in nil }) { try eraser.erased($1, at: $0) }
    }

    @Test("Every flipped byte of an erased segment is found")
    func flips() throws {
        let made = try ErasureStore(seed: 3, count: 8, bytes: 60)
        let log = try made.store.open()
        try Self.erase(in: log)
        try log.close()
        let path = try #require(made.store.segments.first)
        let size = try made.store.disk.content(of: path).count
        var missed: [Int] = []
        for position in 0..<size {
            try made.store.disk.flipBit(path, byte: position, bit: position % 8)
            if made.store.verify().damage == nil { missed.append(position) }
            try made.store.disk.flipBit(path, byte: position, bit: position % 8)
        }
        #expect(missed == [])
        #expect(made.store.verify().damage == nil)
    }

    @Test("What was kept of a payload is checked against the chain")
    func wrongOriginal() throws {
        let made = try ErasureStore(seed: 3, count: 8, bytes: 60)
        func check(_ change: (inout OriginalPayload) -> Void) throws -> StrataError? {
            var builder = CommitBlockBuilder()
            var chain: UInt32 = 0
            for commit in made.commits {
                var original: OriginalPayload?
                var payload = commit.payload
                if let erased = try Self.eraser.erased(payload, at: commit.offset) {
                    var kept = OriginalPayload(of: payload)
                    change(&kept)
                    (original, payload) = (kept, erased[...])
                }
                payload.withUnsafeBytes {
                    builder.append(CommitRow(commit, original: original), $0, chainBefore: chain)
                }
                chain = commit.chain
            }
            let (header, raw) = builder.finish()
            let file = try SimulatedDisk().open("/block", .create)
            var writer = BlockWriter(file, salt: 1, at: 0)
            let count = try writer.append(header, raw)
            try writer.flush()
            let block = try file.read(count: count, at: 0).withUnsafeBytes {
                try CommitBlock(Block(decoding: $0, salt: 1, position: 0))
            }
            #expect(block.original(at: 0) != nil && block.original(at: 1) == nil && block.original(at: 4) != nil)
            return thrownError { try block.checkChain(after: 0) }
        }
        #expect(try check { _ in } == nil)
        #expect(try check { $0.checksum ^= 1 }?.code == .brokenChain)
        #expect(try check { $0.byteCount += 1 }?.code == .brokenChain)
        #expect(try check { $0.byteCount = 1 << 40 }?.code == .malformed)
    }

    @Test("Loss of power before every changing call: the log is whole, and erasing again ends it")
    func powerLoss() throws {
        let made = try ErasureStore(seed: 6, count: 70)
        let log = try made.store.open()
        let positions = made.commits.map(\.position)
        let failures = Monitor<[String]>([])
        let frozen = Monitor<UInt64>(0)
        made.store.disk.beforeCall = { [weak disk = made.store.disk] kind, path in
            guard let disk, kind.isChange else { return }
            let number = frozen.withLock { number in
                number += 1
                return number
            }
            for keeping in SimulatedDisk.PowerLoss.allCases {
                let left = TinyStore(disk.afterPowerLoss(seed: number, keeping: keeping), seed: 99)
                do {
                    let again = try left.open()
                    try check(again.allCommits().map(\.position) == positions, "the log is another")
                    try Self.erase(in: again)
                    try again.close()
                    try check(left.verify().damage == nil, "there is damage")
                    try check(ErasureStore.found(made.secrets, on: left.disk) == 0, "something is left")
                } catch { failures.withLock { $0.append("before \(kind) of \(path), \(keeping): \(error)") } }
            }
        }
        try Self.erase(in: log)
        made.store.disk.beforeCall = nil
        try log.close()
        #expect(failures.withLock { $0 } == [])
        #expect(frozen.withLock { $0 } > 12)
    }

    @Test("Writing that fails leaves every commit, and the next try ends it")
    func faults() throws {
        let template = try ErasureStore(seed: 7, count: 50)
        for kind in SimulatedDisk.CallKind.allCases where kind.isChange {
            for call in 1...3 {
                let store = template.store.copy()
                let log = try store.open()
                store.disk.fail(kind, at: call, with: .errno(EIO), on: "/log")
                _ = thrownError { try Self.erase(in: log) }
                store.disk.heal()
                try #expect(log.allCommits().map(\.position) == template.commits.map(\.position), "\(kind) \(call)")
                try? log.close()
                let again = try store.open()
                try Self.erase(in: again)
                try again.close()
                #expect(try ErasureStore.found(template.secrets, on: store.disk) == 0)
                #expect(store.verify().damage == nil, "\(kind) \(call)")
            }
        }
    }
}
