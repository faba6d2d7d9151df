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
        let store: TreeStore
        var model: TreeModel
        var kept: [(state: Snapshot, model: TreeModel)] = []
    }

    private func change(_ line: inout Line, _ random: SeededRandom) throws {
        let fork = try line.store.fork()
        for _ in 0...(random.next() % 30) {
            let key = bigEndian(Int(random.next() % 200))
            if random.next() % 4 == 0 {
                _ = try fork.delete(Self.id, key)
                line.model[key] = nil
            } else {
                // Some are in blob files.
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

    @Test("A settled state that is kept has nothing in memory, whatever follows")
    func settled() throws {
        let store = try TreeStore.sample()
        var kept: [(state: Snapshot, count: Int)] = []
        for round in 0..<40 {
            let fork = try store.fork()
            for number in 0..<50 { try fork.put(Self.id, bigEndian(50 * round + number), bytes(300, of: 1)) }
            try store.publish(fork)
            try store.settle()
            kept.append((store.snapshot(), 50 * (round + 1)))
        }
        #expect(store.waitingGenerations == 0)
        for (state, count) in kept {
            #expect(state.below.frozen.isEmpty && state.top.generation.byteCount <= PageLayout.pageBytes)
            #expect(try state.entries(Self.id).count == count)
        }
    }

    @Test("Each holds what it should, whoever ends first", arguments: seeds(12))
    func seeded(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var lines = [Line(store: try .sample(TreeTrial.options), model: TreeModel())]
        for step in 0..<150 {
            let index = Int(random.next() % UInt64(lines.count))
            switch random.next() % 8 {
            case 0:
                lines[index].kept.append((lines[index].store.snapshot(), lines[index].model))
            case 1 where lines.count < 5:
                let all = lines.flatMap(\.kept)
                guard !all.isEmpty else { continue }
                let from = all[Int(random.next() % UInt64(all.count))]
                lines.append(Line(store: try lines[0].store.branch(on: from.state), model: from.model))
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
        }
    }

    @Test("A state outlives its branch, and the store is as it was")
    func end() throws {
        let store = try TreeStore.sample(TreeTrial.options)
        var line = Line(store: store, model: TreeModel())
        let random = SeededRandom(seed: 2)
        for _ in 0..<20 { try change(&line, random) }
        var last: (state: Snapshot, model: TreeModel)?
        do {
            var branch = Line(store: try store.branch(on: store.snapshot()), model: line.model)
            for _ in 0..<60 { try change(&branch, random) }
            last = (branch.store.snapshot(), branch.model)
        }
        try expect(store.snapshot(), line.model, "the store")
        for _ in 0..<20 { try change(&line, random) }
        let state = try #require(last)
        try expect(state.state, state.model, "the last state of the branch")
    }

    @Test("A branch of a store on disk writes runs of its own, which leave no files")
    func files() throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory("/s")
        let store = try TreeStore.open(
            in: "/s", TreeTrial.owner, hashed: [Self.id], platform: Platform(files: disk), options: TreeTrial.options
        ) { _ in true }.store
        var line = Line(store: store, model: TreeModel())
        let random = SeededRandom(seed: 3)
        for _ in 0..<10 { try change(&line, random) }
        let before = disk.paths
        do {
            var branch = Line(store: try store.branch(on: store.snapshot()), model: line.model)
            for _ in 0..<60 { try change(&branch, random) }
            try branch.store.settle()
            try expect(branch.store.snapshot(), branch.model, "the branch")
            #expect(branch.store.snapshot().below.levels.runs.isEmpty == false)
        }
        #expect(disk.paths == before)
        try expect(store.snapshot(), line.model, "the store")
    }

    @Test("A fork of a branch is no state of the store")
    func foreign() throws {
        let store = try TreeStore.sample()
        let branch = try store.branch(on: store.snapshot())
        let fork = try branch.fork()
        try fork.put(Self.id, [1], [1])
        try branch.publish(fork)
        let next = try branch.fork()
        try next.put(Self.id, [2], [2])
        let error = #expect(throws: StrataError.self) { try store.publish(next) }
        #expect(error?.code == .invalidArgument)
        #expect(try store.snapshot().entries(Self.id).isEmpty)
    }
}
