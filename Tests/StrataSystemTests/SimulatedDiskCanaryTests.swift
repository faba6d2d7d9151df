import StrataModel
import StrataSystem
import TestSupport
import Testing

/// Writers with a bug each, which the simulated disk must find: it would find nothing in the product otherwise.
@Suite("Canary: the simulated disk finds writers that forget something")
struct SimulatedDiskCanaryTests {
    enum Bug: CaseIterable {
        case noSyncOfFile, noSyncOfDirectory, renameBeforeSync, retriesFailedSync, overwritesInPlace
    }

    private static let old = [UInt8](repeating: 1, count: 2_048)
    private static let new = [UInt8](repeating: 2, count: 2_048)

    /// Replaces the content of `/d/a` and returns when that is durable, or would be but for the bug.
    private func replace(on disk: SimulatedDisk, bug: Bug?) throws {
        if bug == .overwritesInPlace {
            let file = try disk.open("/d/a", .write)
            try file.write(Self.new, at: 0)
            return try file.sync()
        }
        let file = try disk.open("/d/a.new", .create)
        try file.write(Self.new, at: 0)
        if bug == .renameBeforeSync { try disk.rename("/d/a.new", to: "/d/a") }
        if bug == .retriesFailedSync {
            do { try file.sync() } catch { try file.sync() }
        } else if bug != .noSyncOfFile {
            try file.sync()
        }
        if bug != .renameBeforeSync { try disk.rename("/d/a.new", to: "/d/a") }
        if bug != .noSyncOfDirectory { try disk.syncDirectory("/d") }
    }

    /// Whether any loss of power, at any call or after the last, shows something that must not be.
    private func isCaught(_ bug: Bug?) throws -> Bool {
        let disk = SimulatedDisk()
        disk.setContent(Self.old, of: "/d/a")
        if bug == .retriesFailedSync { disk.fail(.syncData, at: 1, with: .syncLoses) }
        let survivors = Monitor<[SimulatedDisk]>([])
        let freeze: @Sendable (SimulatedDisk) -> Void = { disk in
            let frozen = (1...40).map { disk.afterPowerLoss(seed: $0) }
            survivors.withLock { $0 += frozen }
        }
        disk.beforeCall = { [weak disk] _, _ in if let disk { freeze(disk) } }
        try replace(on: disk, bug: bug)
        let isPartial = try survivors.withLock {
            try $0.contains { ![Self.old, Self.new].contains(try $0.content(of: "/d/a")) }
        }
        let last = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        return try isPartial || last.content(of: "/d/a") != Self.new
    }

    @Test("A writer with a bug is caught", arguments: Bug.allCases)
    func buggyWriter(bug: Bug) throws {
        #expect(try isCaught(bug))
    }

    @Test("The writer without a bug is not, nor is the one of the product")
    func goodWriter() throws {
        #expect(try !isCaught(nil))
        let disk = SimulatedDisk()
        disk.setContent(Self.old, of: "/d/a")
        let contents = Monitor<Set<[UInt8]>>([])
        disk.beforeCall = { [weak disk] _, _ in
            for seed in 1...40 {
                guard let survivor = disk?.afterPowerLoss(seed: UInt64(seed)) else { return }
                let content = (try? survivor.content(of: "/d/a")) ?? []
                contents.withLock { _ = $0.insert(content) }
            }
        }
        try disk.replace("/d/a", in: "/d", with: Self.new)
        #expect(contents.withLock { $0 } == [Self.old, Self.new])
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/d/a") == Self.new)
    }
}
