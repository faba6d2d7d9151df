import StrataSystem
import TestSupport
import Testing

@Suite("The simulated disk: what power loss leaves of files")
struct SimulatedDiskPowerLossTests {
    private let disk = SimulatedDisk()
    private let sector = 512

    private func makeDurableFile(_ bytes: [UInt8]) throws -> any File {
        disk.setContent(bytes, of: "/a")
        return try disk.open("/a", .write)
    }

    private func pattern(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    @Test("What was synced is there in every way that power can be lost", arguments: SimulatedDisk.PowerLoss.allCases)
    func synced(keeping: SimulatedDisk.PowerLoss) throws {
        let file = try makeDurableFile(pattern(1, 3_000))
        try file.write(pattern(2, 1_000), at: 2_500)
        try file.sync()
        for seed in seeds(20) {
            let survivor = disk.afterPowerLoss(seed: seed, keeping: keeping)
            #expect(try survivor.content(of: "/a") == pattern(1, 2_500) + pattern(2, 1_000), "seed \(seed)")
        }
    }

    @Test("Without a sync the old content and size are what the least medium keeps, the new ones what the most does")
    func extremes() throws {
        let file = try makeDurableFile(pattern(1, 1_000))
        try file.write(pattern(2, 5_000), at: 300)
        #expect(try disk.content(of: "/a") == pattern(1, 300) + pattern(2, 5_000))
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a") == pattern(1, 1_000))
        let most = try disk.afterPowerLoss(seed: 1, keeping: .everything).content(of: "/a")
        #expect(most == pattern(1, 300) + pattern(2, 5_000))
    }

    @Test("At random each written sector is old, new or torn once, and no other sector changes")
    func sectors() throws {
        let file = try makeDurableFile(pattern(1, 64 * sector))
        try file.write(pattern(2, 32 * sector), at: 16 * sector)
        var seen: Set<String> = []
        for seed in UInt64(1)...400 {
            let content = try disk.afterPowerLoss(seed: seed).content(of: "/a")
            try #require(content.count == 64 * sector, "seed \(seed)")
            for index in 0..<64 {
                let bytes = content[index * sector..<(index + 1) * sector]
                let changes = zip(bytes, bytes.dropFirst()).count { $0 != $1 }
                #expect(changes <= 1 && bytes.allSatisfy { $0 == 1 || $0 == 2 }, "seed \(seed)")
                let isWritten = (16..<48).contains(index)
                #expect(isWritten || !bytes.contains(2), "seed \(seed)")
                if isWritten {
                    seen.insert(
                        changes == 1 ? "torn, \(bytes.first == 2 ? "new" : "old") first" : "\(bytes.first ?? 0)")
                }
            }
        }
        #expect(seen == ["1", "2", "torn, new first", "torn, old first"])
    }

    @Test("At random also just one sector of many is lost, and just one kept")
    func rareLosses() throws {
        let file = try makeDurableFile(pattern(1, 64 * sector))
        try file.write(pattern(2, 64 * sector), at: 0)
        let kept = try (UInt64(1)...400).map { seed in
            let content = try disk.afterPowerLoss(seed: seed).content(of: "/a")
            return (0..<64).count { content[$0 * sector] == 2 }
        }
        #expect(kept.contains { $0 <= 2 })
        #expect(kept.contains { $0 >= 62 })
        #expect(kept.contains { (20...44).contains($0) })
    }

    @Test("The size is old, new or anything between, and what is behind it is gone for good")
    func sizes() throws {
        let file = try makeDurableFile(pattern(1, 100))
        try file.write(pattern(2, 3_900), at: 100)
        var sizes: Set<Int> = []
        for seed in UInt64(1)...200 {
            let survivor = disk.afterPowerLoss(seed: seed)
            let size = try survivor.content(of: "/a").count
            sizes.insert(size)
            let grown = try survivor.open("/a", .write)
            try grown.truncate(to: 5_000)
            let rest = try grown.read(count: 5_000, at: size)
            #expect(rest.allSatisfy { $0 == 0 }, "seed \(seed)")
        }
        #expect(sizes.allSatisfy { (100...4_000).contains($0) })
        #expect(sizes.contains(100) && sizes.contains(4_000) && sizes.count > 20)
    }

    @Test("A cut that was not synced may be undone, with the old bytes")
    func cuts() throws {
        let file = try makeDurableFile(pattern(1, 4_096))
        try file.truncate(to: 1_024)
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a") == pattern(1, 4_096))
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .everything).content(of: "/a") == pattern(1, 1_024))
        for seed in seeds(50) {
            let content = try disk.afterPowerLoss(seed: seed).content(of: "/a")
            #expect(content.count >= 1_024 && content.allSatisfy { $0 == 1 }, "seed \(seed)")
        }
        try file.sync()
        try file.truncate(to: 4_096)
        try file.sync()
        let regrown = try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a")
        #expect(regrown == pattern(1, 1_024) + pattern(0, 3_072))
    }

    @Test("Allocated space is durable with the next sync and reads as zero")
    func allocations() throws {
        let file = try makeDurableFile([1])
        try file.allocate(0..<10_000)
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a") == [1])
        try file.sync()
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try survivor.content(of: "/a") == [1] + pattern(0, 9_999))
    }

    @Test("The same seed gives the same disk, another one does not")
    func determinism() throws {
        let file = try makeDurableFile([])
        try file.write(pattern(2, 100_000), at: 0)
        for name in ["b", "c", "d"] { try disk.open("/\(name)", .create).write([1], at: 0) }
        let contents = { (seed: UInt64) in
            let survivor = self.disk.afterPowerLoss(seed: seed)
            return try survivor.paths.map { ($0, try survivor.content(of: $0)) }.description
        }
        #expect(try contents(7) == contents(7))
        #expect(Set(try (UInt64(1)...8).map(contents)).count > 1)
    }

    @Test("Power loss leaves the disk itself alone, and its survivor can lose power again")
    func independence() throws {
        let file = try makeDurableFile([1, 1])
        try file.write([2], at: 0)
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .everything)
        let survivingFile = try survivor.open("/a", .write)
        try survivingFile.write([3], at: 1)
        #expect(try disk.content(of: "/a") == [2, 1])
        #expect(try survivor.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a") == [2, 1])
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/a") == [1, 1])
    }

    @Test("Nothing is locked, open or planned to fail after power loss")
    func cleanStart() throws {
        let file = try makeDurableFile([1])
        #expect(try file.tryLock())
        disk.fail(.open, from: 1, with: .errno(5))
        let survivor = disk.afterPowerLoss(seed: 1)
        #expect(try survivor.open("/a", .write).tryLock())
        #expect(survivor.count(of: .lock) == 1)
    }
}
