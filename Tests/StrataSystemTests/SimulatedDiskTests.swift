import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("The simulated disk: damage, freezing, size")
struct SimulatedDiskTests {
    private let disk = SimulatedDisk()

    @Test("Damage is readable and durable at once, and touches nothing else")
    func damage() throws {
        disk.setContent([UInt8](repeating: 0, count: 2_000), of: "/log/a")
        let file = try disk.open("/log/a", .write)
        try file.write([1], at: 1_000)
        try disk.flipBit("/log/a", byte: 7, bit: 3)
        try disk.overwrite("/log/a", at: 1_999, with: [5, 6])
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        let durable = try survivor.content(of: "/log/a")
        #expect(durable.indices.filter { durable[$0] != 0 } == [7, 1_999, 2_000])
        #expect(durable[7] == 8 && durable[1_999] == 5 && durable[2_000] == 6)
        let live = try file.read(count: 9_000, at: 0)
        #expect(live.indices.filter { live[$0] != durable[$0] } == [1_000], "unsynced before, unsynced after")
        try disk.truncateFile("/log/a", to: 3)
        #expect(try file.size() == 3)
        try disk.copyFile("/log/a", to: "/other/b")
        try disk.removeFile("/log/a")
        #expect(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).paths == ["/other/b"])
        #expect(thrownCode { try disk.flipBit("/log/a", byte: 0, bit: 0) } == .notFound)
    }

    @Test("A hook can freeze the disk at every sync, while other threads write")
    func freezing() throws {
        let threads = 4
        let rounds = 50
        let survivors = Monitor<[SimulatedDisk]>([])
        disk.beforeCall = { [weak disk] kind, path in
            guard kind == .syncData, path == "/0", let disk else { return }
            let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
            survivors.withLock { $0.append(survivor) }
        }
        for thread in 0..<threads { disk.setContent([], of: "/\(thread)") }
        let workers = try (0..<threads).map { thread in
            let file = try disk.open("/\(thread)", .write)
            return try WorkerThread(name: "writer") {
                for round in 0..<rounds {
                    try? file.write([UInt8](repeating: UInt8(round), count: 512), at: round * 512)
                    try? file.sync()
                }
            }
        }
        for worker in workers { worker.join() }
        let frozen = survivors.withLock { $0 }
        #expect(frozen.count == rounds)
        for (round, survivor) in frozen.enumerated() {
            #expect(try survivor.content(of: "/0").count == round * 512, "everything but the write being synced")
            for thread in 1..<threads {
                let content = try survivor.content(of: "/\(thread)")
                #expect(content.count % 512 == 0)
                #expect(content.indices.allSatisfy { content[$0] == UInt8($0 / 512) })
            }
        }
    }

    @Test("Random calls leave what a plain array would hold", arguments: seeds(10))
    func modelTest(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let file = try disk.open("/a", .create)
        try disk.syncDirectory("/")
        var live: [UInt8] = []
        var durable: [UInt8] = []
        for _ in 0..<400 {
            let position = generator.next(below: 6_000)
            switch generator.next(below: 8) {
            case 0:
                try file.sync()
                durable = live
            case 1:
                try file.truncate(to: position)
                live = resized(live, position)
            case 2:
                try file.allocate(0..<position + 1)
                live = resized(live, max(live.count, position + 1))
            default:
                let isZero = generator.next(below: 3) == 0
                let count = 1 + generator.next(below: 2_000)
                let bytes = isZero ? [UInt8](repeating: 0, count: count) : generator.nextBytes(count)
                try file.write(bytes, at: position)
                live = resized(live, max(live.count, position + count))
                live.replaceSubrange(position..<position + count, with: bytes)
            }
            try #require(try file.read(count: 10_000, at: 0) == live)
            let survivor = disk.afterPowerLoss(seed: seed, keeping: .nothingUnsynced)
            try #require(try survivor.content(of: "/a") == durable)
            let keeping = try disk.afterPowerLoss(seed: seed, keeping: .everything).content(of: "/a")
            try #require(keeping == live)
        }
    }

    private func resized(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }

    @Test("A file of 64 MiB, written in thousands of small pieces and synced often, takes no copies of the whole")
    func largeFile() throws {
        let file = try disk.open("/a", .create)
        let piece = [UInt8](repeating: 7, count: 16_384)
        let seconds = try ThreadTime.seconds {
            for index in 0..<4_096 {
                try file.write(piece, at: index * piece.count)
                if index % 4 == 0 { try file.sync() }
            }
        }
        #expect(try file.size() == 64 << 20)
        // Copying the file at each sync would move 32 GiB; processor time is the same on a busy machine.
        #expect(seconds < 3)
    }

    @Test("Space that is only filled with zeros costs no memory")
    func zeroFilledSpace() async throws {
        // In a process whose memory no other test uses.
        await #expect(processExitsWith: .success) {
            let disk = SimulatedDisk()
            let before = try Self.residentPages()
            let file = try disk.open("/a", .create)
            for _ in 0..<16 { try file.write([UInt8](repeating: 0, count: 4 << 20), at: try file.size()) }
            try file.sync()
            try disk.syncDirectory("/")
            let survivors = (1...8).map { disk.afterPowerLoss(seed: $0) }
            #expect(try survivors.allSatisfy { try $0.open("/a", .read).size() == 64 << 20 })
            // Nine disks with two images each of a file that is there would be more than a gigabyte.
            #expect((try Self.residentPages() - before) * 4_096 < 512 << 20)
        }
    }

    private static func residentPages() throws -> Int {
        let text = try RealFileSystem().open("/proc/self/statm", .read).read(count: 200, at: 0)
        return try #require(Int(String(decoding: text, as: UTF8.self).split(separator: " ")[1]))
    }
}
