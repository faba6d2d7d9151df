import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Stores that go on from older states of another one, beside it.
@Suite("Branches")
struct BranchTests {
    private static let id = TwinTree.id

    /// A store or a branch, with what it should hold.
    private struct Line {
        let store: PageStore
        var model: TreeModel
        var kept: [(state: Snapshot, model: TreeModel)] = []
    }

    private func change(_ line: inout Line, _ random: SeededRandom) throws {
        let fork = line.store.fork()
        for _ in 0...(random.next() % 30) {
            let key = bigEndian(Int(random.next() % 200))
            if random.next() % 4 == 0 {
                _ = try fork.delete(Self.id, key)
                line.model[key] = nil
            } else {
                // Some have pages of their own.
                let count = random.next() % 12 == 0 ? 9_000 : Int(random.next() % 400)
                let value = bytes(count, of: UInt8(random.next() % 256))
                try fork.put(Self.id, key, value)
                line.model[key] = value
            }
        }
        // A fork that is dropped leaves nothing.
        if random.next() % 8 > 0 { try line.store.publish(fork) } else { line.model = try model(line.store.snapshot()) }
    }

    private func model(_ state: Snapshot) throws -> TreeModel {
        var model = TreeModel()
        for entry in try state.entries(Self.id) { model[entry[0]] = entry[1] }
        return model
    }

    private func expect(_ state: Snapshot, _ model: TreeModel, _ comment: Comment) throws {
        let entries = try state.entries(Self.id)
        #expect(entries.map { $0[0] } == model.sortedKeys, comment)
        #expect(entries.allSatisfy { model[$0[0]] == $0[1] }, comment)
    }

    @Test("Each holds what it should, and no page is lost or used twice, whoever ends first", arguments: seeds(12))
    func seeded(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var lines = [Line(store: try PageStore.inMemory(), model: TreeModel())]
        for step in 0..<150 {
            let index = Int(random.next() % UInt64(lines.count))
            switch random.next() % 8 {
            case 0:
                lines[index].kept.append((lines[index].store.snapshot(), lines[index].model))
            case 1 where lines.count < 5:
                let all = lines.flatMap(\.kept)
                guard !all.isEmpty else { continue }
                let from = all[Int(random.next() % UInt64(all.count))]
                lines.append(Line(store: .branch(on: from.state), model: from.model))
            case 2 where index > 0:
                // Some of its states outlive it.
                let kept = lines.remove(at: index).kept
                if random.next() % 2 == 0 { lines[0].kept += kept }
            case 3 where !lines[index].kept.isEmpty:
                lines[index].kept.remove(at: Int(random.next() % UInt64(lines[index].kept.count)))
            default: try change(&lines[index], random)
            }
            for line in lines {
                try expect(line.store.snapshot(), line.model, "seed \(seed), step \(step)")
                for (state, model) in line.kept { try expect(state, model, "kept, seed \(seed), step \(step)") }
            }
            let held = lines.flatMap { [$0.store.snapshot()] + $0.kept.map(\.state) }
            let faults = try TreeChecker.faults(of: lines[0].store, holding: held)
            #expect(faults == [], "seed \(seed), step \(step)")
            if !faults.isEmpty { return }
        }
    }

    @Test("A branch that goes on for long takes no more room than its states, and gives all of it back")
    func room() throws {
        let store = try PageStore.inMemory()
        var line = Line(store: store, model: TreeModel())
        let random = SeededRandom(seed: 1)
        for _ in 0..<20 { try change(&line, random) }
        let before = store.info.arenaPages
        var branch: PageStore? = .branch(on: store.snapshot())
        var most = 0
        for number in 0..<500 {
            let fork = try #require(branch).fork()
            try fork.put(Self.id, bigEndian(number % 50), bytes(300, of: UInt8(number % 256)))
            try branch?.publish(fork)
            if number == 100 { most = store.info.arenaPages }
        }
        #expect(store.info.arenaPages <= most + 16, "what a state does not reach any more is free")
        let last = branch?.snapshot()
        branch = nil
        #expect(try last.map { try model($0)[bigEndian(49)] } == bytes(300, of: UInt8(499 % 256)))
        #expect(store.info.arenaPages > before, "a state outlives its branch")
    }

    @Test("When the last state of a branch is gone, so are its pages")
    func end() throws {
        let store = try PageStore.inMemory()
        var line = Line(store: store, model: TreeModel())
        let random = SeededRandom(seed: 2)
        for _ in 0..<20 { try change(&line, random) }
        let before = store.info.arenaPages
        do {
            var branch = Line(store: .branch(on: store.snapshot()), model: line.model)
            for _ in 0..<20 { try change(&branch, random) }
            #expect(store.info.arenaPages > before)
        }
        #expect(store.info.arenaPages == before)
        #expect(try TreeChecker.faults(of: store, holding: [store.snapshot()]) == [])
        try expect(store.snapshot(), line.model, "the store is as it was")
    }

    @Test("A fork of a branch is no state of the store")
    func foreign() throws {
        let store = try PageStore.inMemory()
        let branch = PageStore.branch(on: store.snapshot())
        let fork = branch.fork()
        try fork.put(Self.id, [1], [1])
        try branch.publish(fork)
        let next = branch.fork()
        try next.put(Self.id, [2], [2])
        let error = #expect(throws: StrataError.self) { try store.publish(next) }
        #expect(error?.code == .invalidArgument)
        #expect(try store.snapshot().entries(Self.id).isEmpty)
    }
}
