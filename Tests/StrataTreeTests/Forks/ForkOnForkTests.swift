import StrataModel
import Testing

@testable import StrataTree

/// Forks on forks, published and dropped in every order, while others change the store.
@Suite("Forks on forks")
struct ForkOnForkTests {
    private static let id = TwinTree.id

    /// - Parameter isLayered: true for so small generations that forks on forks begin new ones.
    private func store(entries: Int, isLayered: Bool = false) throws -> TreeStore {
        var options = TreeStoreOptions()
        if isLayered { options.generationBytes = 12 << 10 }
        let store = try TreeStore.sample(options)
        let fork = try store.fork()
        for number in 0..<entries { try fork.put(Self.id, bigEndian(number), bytes(300, of: 1)) }
        try store.publish(fork)
        return store
    }

    private func fill(_ fork: Fork, _ byte: UInt8, entries: Int = 60) throws {
        for number in 0..<entries { try fork.put(Self.id, bigEndian(number), bytes(300, of: byte)) }
    }

    private func values(_ fork: Fork) throws -> Set<UInt8> {
        var values: Set<UInt8> = []
        try fork.scan(Self.id) { _, value in
            values.formUnion(value)
            return true
        }
        return values
    }

    @Test(
        "A fork on a fork keeps reading the state below it when others go on after that was published",
        arguments: [false, true])
    func readAfterOthers(isLayered: Bool) throws {
        let store = try store(entries: 60, isLayered: isLayered)
        let lower = try store.fork()
        try fill(lower, 2)
        let upper = try Fork(on: lower)
        try store.publish(lower)
        for byte in UInt8(3)...6 {
            let other = try store.fork()
            try fill(other, byte)
            try store.publish(other)
        }
        #expect(try values(upper) == [2])
        #expect(throws: StrataError.self) { try store.publish(upper) }
        #expect(try values(upper) == [2])
    }

    @Test("Canary: the pages of a state are used again only if its pin is lost", arguments: [false, true])
    func lostPin(isLost: Bool) throws {
        let store = try store(entries: 600)
        let held = store.snapshot()
        let generation = held.top.generation
        let root = generation.page(held.roots[Self.id].page)
        try #require(root.level == 1)
        let numbers = (0..<root.count).map { root.child($0) }
        /// The bytes of the leaves. Reading the entries could lead anywhere.
        func leaves() -> [[UInt8]] {
            numbers.map {
                [UInt8](UnsafeRawBufferPointer(start: generation.address($0), count: PageLayout.pageBytes))
            }
        }
        let before = leaves()
        if isLost { generation.unpin(held.epoch) }
        for byte in UInt8(2)...6 {
            let fork = try store.fork()
            try fill(fork, byte, entries: 600)
            try store.publish(fork)
        }
        #expect(try store.snapshot().entries(Self.id).allSatisfy { $0[1] == bytes(300, of: 6) })
        #expect((leaves() != before) == isLost)
        // It is unpinned once more when it goes.
        if isLost { generation.pin(held.epoch) }
        withExtendedLifetime(held) {}
    }

    @Test("A published fork still reads what it was, however much others change", arguments: [false, true])
    func publishedForkReads(isLayered: Bool) throws {
        let store = try store(entries: 60, isLayered: isLayered)
        let fork = try store.fork()
        try fill(fork, 2)
        try store.publish(fork)
        let upper = try Fork(on: fork)
        for byte in UInt8(3)...6 {
            let other = try store.fork()
            try fill(other, byte)
            try store.publish(other)
        }
        #expect(try values(fork) == [2])
        #expect(try values(upper) == [2])
        #expect(try values(try Fork(on: fork)) == [2])
    }

    /// What is done with three forks, each on the one before.
    enum Step: CaseIterable, Sendable {
        case publishFirst, publishSecond, publishThird, dropFirst, dropSecond, dropThird
    }

    @Test("Three forks on one another, published and dropped in every order", arguments: [false, true])
    func everyOrder(isLayered: Bool) throws {
        for seed in 0..<216 {
            let steps = [seed % 6, seed / 6 % 6, seed / 36].map { Step.allCases[$0] }
            try run(steps, isLayered)
        }
    }

    private func run(_ steps: [Step], _ isLayered: Bool) throws {
        let store = try store(entries: 12, isLayered: isLayered)
        var forks: [Fork?] = [try store.fork()]
        for index in 0..<3 {
            let fork = try #require(forks[index])
            try fill(fork, UInt8(10 + index), entries: 12)
            try fork.put(Self.id, bigEndian(100 + index), bytes(5_000, of: UInt8(10 + index)))
            try fork.delete(Self.id, bigEndian(99 + index))
            if index < 2 { forks.append(try Fork(on: fork)) }
        }
        var published = -1
        for step in steps {
            let index = (Step.allCases.firstIndex(of: step) ?? 0) % 3
            switch step {
            case .dropFirst, .dropSecond, .dropThird: forks[index] = nil
            case .publishFirst, .publishSecond, .publishThird:
                guard let fork = forks[index] else { continue }
                if index == published + 1 {
                    try store.publish(fork)
                    published = index
                } else {
                    #expect(throws: StrataError.self) { try store.publish(fork) }
                }
            }
            for case let fork? in forks { #expect(try values(fork).isSubset(of: [10, 11, 12]), "\(steps)") }
        }
        forks = []
        let snapshot = store.snapshot()
        let found = try snapshot.entries(Self.id).map { $0[1].first }
        #expect(Set(found) == [published < 0 ? 1 : UInt8(10 + published)], "\(steps)")
        #expect(TreeShape(of: snapshot, Self.id).faults == [], "\(steps)")
    }

    @Test("A line of forks keeps neither the generations that have been flushed nor the runs that were merged")
    func line() throws {
        let store = try store(entries: 60, isLayered: true)
        var line = try store.fork()
        var kept: [WeakGeneration] = []
        for round in 0..<60 as Range<UInt8> {
            try fill(line, round)
            kept.append(WeakGeneration(generation: line.generation))
            let upper = try Fork(on: line)
            try store.publish(line)
            line = upper
            try store.writeRuns()
            #expect(line.below.frozen.count <= 3 && line.below.levels.runs.count <= 10, "round \(round)")
            #expect(kept.filter { $0.generation != nil }.count <= 4, "round \(round)")
            #expect(try values(line) == [round])
        }
    }

    @Test("A lower fork changes no more, and a published one neither")
    func frozen() throws {
        let store = try store(entries: 3)
        let lower = try store.fork()
        let upper = try Fork(on: lower)
        #expect(throws: StrataError.self) { try lower.put(Self.id, [1], []) }
        #expect(throws: StrataError.self) { try lower.delete(Self.id, bigEndian(1)) }
        #expect(throws: StrataError.self) { try lower.deleteKeys(Self.id, from: nil, to: nil) }
        #expect(throws: StrataError.self) { try lower.setFoldedOffset(Self.id, 9) }
        try store.publish(lower)
        try store.publish(upper)
        #expect(throws: StrataError.self) { try upper.put(Self.id, [1], []) }
        #expect(throws: StrataError.self) { try upper.setFoldedOffset(Self.id, 9) }
        #expect(throws: StrataError.self) { try store.publish(upper) }
    }

    @Test("Of two forks of the same state only the first to be published is")
    func rivals() throws {
        let store = try store(entries: 3)
        let (first, second) = (try store.fork(), try store.fork())
        try fill(first, 2, entries: 3)
        try fill(second, 3, entries: 3)
        try store.publish(second)
        let error = #expect(throws: StrataError.self) { try store.publish(first) }
        #expect(error?.code == .invalidArgument)
        #expect(try values(first) == [2])
        #expect(try values(try store.fork()) == [3])
    }
}
