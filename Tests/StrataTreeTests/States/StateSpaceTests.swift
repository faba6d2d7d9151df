import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// The files of states whose values are mostly long.
@Suite("The space of states")
struct StateSpaceTests {
    private static let id = StateStory.id
    private static let valueBytes = 20_000

    private let disk = SimulatedDisk()
    private let store: TreeStore
    private let position = Lock<UInt64>(0)

    init() throws { try self.init(keptStates: 0) }

    private init(keptStates: Int) throws {
        try disk.makeDirectory(StateStory.path)
        var options = TreeStoreOptions()
        options.generationBytes = 128 << 10
        options.pieceBytes = 64 << 10
        options.frameBytes = 4_096
        options.maximumKeptStates = keptStates
        store = try StateStory.open(disk, options).store
    }

    private func sizes(_ use: RunHome.Use) throws -> [UInt64: Int] {
        var sizes: [UInt64: Int] = [:]
        for name in try disk.list(StateStory.path + "/views") {
            guard let number = RunHome.number(of: name, use) else { continue }
            sizes[number] = try disk.content(of: "\(StateStory.path)/views/\(name)").count
        }
        return sizes
    }

    private func byteCount() throws -> Int { try sizes(.piece).values.reduce(0, +) + sizes(.blob).values.reduce(0, +) }

    /// Changes entries, and flushes; merges only what is due while others go on.
    private func write(
        _ keys: some Sequence<Int>, byteCount: Int? = valueBytes, isAtRest: Bool = false, merges: Bool = true
    ) throws {
        let fork = try store.fork()
        for key in keys {
            let key = bigEndian(key)
            if let byteCount {
                try fork.put(Self.id, key, bytes(byteCount, of: 7))
            } else {
                try fork.delete(Self.id, key)
            }
        }
        try store.publish(fork)
        try store.freeze()
        while let waiting = store.nextToFlush() {
            let offset = position.withLock { position in
                position += 1
                return position
            }
            try store.flush(waiting, at: Position(offset: offset, chain: 1), opaque: [])
        }
        while merges, try store.mergeStep(isAtRest: isAtRest) {}
    }

    @Test("States are not kept for the price of long values that they alone need")
    func keptStates() throws {
        let space = try StateSpaceTests(keptStates: 24)
        for _ in 0..<12 { try space.write(0..<80, byteCount: 100_000, isAtRest: true) }
        #expect(try space.byteCount() < 80 * 100_000 * 5 / 2 + KeptPolicy.smallBytes)
        #expect(space.store.durable.withLock { $0.kept.count } > 0)
    }

    @Test("Files of values that were replaced or deleted are rewritten while changes go on, and small ones united")
    func sparseFiles() throws {
        var random = SeededGenerator(seed: 1)
        for start in stride(from: 0, to: 200, by: 10) { try write(start..<start + 10) }
        for _ in 0..<100 { try write((0..<6).map { _ in Int.random(in: 0..<200, using: &random) }) }
        try write([0])
        #expect(try byteCount() < 200 * Self.valueBytes * 5 / 2)
        for start in stride(from: 0, to: 180, by: 10) { try write(start..<start + 10, byteCount: nil) }
        try write([190])
        #expect(try byteCount() < 20 * Self.valueBytes * 5)
        for key in 300..<360 { try write([key], byteCount: 2_000, isAtRest: true) }
        #expect(try sizes(.blob).count < 30)
    }

    @Test("A merge that rest began goes on at rest, or when one is due by size")
    func restingMerge() throws {
        try write(0..<1_000, byteCount: 900)
        try write(0..<100, byteCount: 900)
        #expect(try store.mergeStep(isAtRest: true))
        #expect(store.state.withLock { $0.levels.runs.contains { $0.run.visibleFrom != nil } })
        #expect(try store.isMergeDue(isAtRest: true) && !store.mergeStep(isAtRest: false))
        #expect(try !StateStory.open(disk, store.options).store.isMergeDue(isAtRest: false))
        try write(100..<500, byteCount: 900)
        #expect(store.state.withLock { $0.levels.runs.allSatisfy { $0.run.visibleFrom == nil } })
        #expect(try store.snapshot().entries(Self.id).count == 1_000)
    }

    @Test("Many new runs are merged although a merge into the base was begun, which then goes on")
    func overtaking() throws {
        try write(0..<1_000, byteCount: 900)
        try write(0..<800, byteCount: 900, merges: false)
        #expect(try store.mergeStep(isAtRest: false))
        for count in 1...12 {
            try write([count], byteCount: 900, merges: false)
            let runs = store.state.withLock { $0.levels.runs }
            for isAtRest in [false, true] {
                let plan = try #require(MergePlan(runs[...], store.options, isAtRest: isAtRest))
                if count < 8 {
                    #expect(plan.level == .base && plan.output != nil, "\(count)")
                } else {
                    #expect(plan.level == .middle && plan.inputs == 0..<count, "\(count)")
                }
            }
        }
        while try store.mergeStep(isAtRest: true) {}
        #expect(store.state.withLock { $0.levels.runs.allSatisfy { $0.run.visibleFrom == nil } })
        let entries = try store.snapshot().entries(Self.id)
        #expect(entries.count == 1_000 && entries.allSatisfy { $0[1] == bytes(900, of: 7) })
    }

    @Test("A branch merges its own runs, and leaves those below it as they are, even if their merge was begun")
    func branchOfBegunMerge() throws {
        try write(0..<1_000, byteCount: 900)
        try write(0..<800, byteCount: 900, merges: false)
        #expect(try store.mergeStep(isAtRest: false))
        let state = store.snapshot()
        let branch = try store.branch(on: state)
        let below = state.below.levels.runs
        for number in 0..<60 {
            let fork = try branch.fork()
            try fork.put(Self.id, bigEndian(number), bytes(900, of: 8))
            try fork.delete(Self.id, bigEndian(999 - number))
            try branch.publish(fork)
            try branch.settle()
            let runs = branch.snapshot().below.levels.runs
            #expect(runs.suffix(below.count).elementsEqual(below) { $0.run === $1.run }, "\(number)")
            #expect(runs.count - below.count <= 8 + 6, "\(number)")
        }
        let values = try branch.snapshot().entries(Self.id).map { $0[1][0] }
        #expect(values == [UInt8](repeating: 8, count: 60) + [UInt8](repeating: 7, count: 880))
        #expect(try state.entries(Self.id).count == 1_000)
    }

    @Test("Without room, a branch writes nothing and keeps its changes in memory")
    func branchWithoutRoom() throws {
        try write(0..<10, byteCount: 900)
        let branch = try store.branch(on: store.snapshot())
        #expect(branch.waitingGenerations == 0, "there was nothing in memory")
        let fork = try branch.fork()
        try fork.put(Self.id, bigEndian(3), bytes(900, of: 8))
        try branch.publish(fork)
        disk.capacityBytes = disk.usedBytes + 1_000
        disk.beforeCall = { kind, path in #expect(kind != .create, "\(path)") }
        #expect(#expect(throws: StrataError.self) { try branch.settle() }?.code == .noSpace)
        #expect(try branch.waitingGenerations == 1 && branch.snapshot().value(Self.id, bigEndian(3))?.first == 8)
        (disk.capacityBytes, disk.beforeCall) = (nil, nil)
        try branch.settle()
        #expect(try branch.waitingGenerations == 0 && branch.snapshot().value(Self.id, bigEndian(3))?.first == 8)
    }

    @Test("No file of a run stays open, however many there are")
    func descriptors() throws {
        let directory = try TestDirectory()
        func open() throws -> TreeStore {
            try TreeStore.open(in: directory.path, TreeTrial.owner, hashed: TreeTrial.hashed) { _ in true }.store
        }
        let store = try open()
        for offset in 1...5 as ClosedRange<UInt64> {
            let fork = try store.fork()
            try fork.put(Self.id, bigEndian(Int(offset)), bytes(5_000, of: 1))
            try store.publish(fork)
            try store.flushAll(at: offset)
        }
        let reopened = try open()
        var buffer = [CChar](repeating: 0, count: 4_096)
        let links = try RealFileSystem().list("/proc/self/fd").map { name in
            let count = readlink("/proc/self/fd/\(name)", &buffer, buffer.count)
            return String(decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        #expect(links.filter { $0.contains(directory.path) } == [])
        for store in [store, reopened] { #expect(try store.snapshot().entries(Self.id).count == 5) }
    }

    @Test("A step of a merge copies no more than a piece")
    func steps() throws {
        for start in stride(from: 0, to: 200, by: 10) { try write(start..<start + 10) }
        for rest in 0..<3 { try write((0..<200).filter { $0 % 4 == rest }, merges: false) }
        while try store.mergeStep(isAtRest: true) {}
        // Now the base uses a quarter of each of the first files: the next merge into it copies them.
        try write(200..<220, merges: false)
        var known = try sizes(.blob)
        // A merge has about as many steps for much more than this.
        let limit = max(64 << 10, try byteCount() / 64)
        var copies = 0
        while try store.mergeStep(isAtRest: true) {
            let now = try sizes(.blob)
            let new = now.filter { known[$0.key] == nil }.values
            #expect(new.reduce(0, +) <= limit + Self.valueBytes + 8_192)
            copies += new.count
            known = now
        }
        #expect(copies > 5)
    }
}
