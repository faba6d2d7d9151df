import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Flushes and merges that are interrupted")
struct StateCrashTests {
    private static let changes: Set<SimulatedDisk.CallKind> = [
        .create, .write, .rename, .remove, .syncData, .syncDirectory, .truncate, .allocate,
    ]

    /// Checks that a disk has a state that is not older than the last one that was durable.
    private func check(
        _ disk: SimulatedDisk, _ models: [UInt64: TreeModel], since offset: UInt64, _ step: String
    ) throws {
        let opened = try StateStory.open(disk)
        let found = opened.state?.position.offset ?? 0
        guard let model = models[found], found >= offset else {
            Issue.record("\(step): the state at \(found), after one at \(offset); \(opened.reasons)")
            return
        }
        let expected = model.sortedKeys.map { [$0, model[$0] ?? []] }
        if try opened.store.snapshot().entries(StateStory.id) != expected { Issue.record("\(step): other entries") }
        // The next state has the files that no other names removed.
        let fork = try opened.store.fork()
        try fork.put(StateStory.id, [1], [2])
        try opened.store.publish(fork)
        try opened.store.flushAll(at: 1_000)
        #expect(try StateStory.unnamedFiles(opened.store, on: disk) == [], "\(step)")
        #expect(try StateStory.open(disk).state?.position.offset == 1_000, "\(step)")
    }

    @Test("Before each changing call power may go: the newest state or one before it is there", arguments: seeds(2))
    func powerLoss(seed: UInt64) throws {
        var story = try StateStory(seed: seed)
        let flushed = Lock<UInt64>(0)
        let survivors = Lock<[(step: String, offset: UInt64, disk: SimulatedDisk)]>([])
        story.disk.beforeCall = { [weak disk = story.disk] kind, path in
            guard let disk, Self.changes.contains(kind) else { return }
            if [.write, .truncate, .allocate].contains(kind), StateStory.isNamed(path, on: disk) {
                Issue.record("\(kind) of \(path), which a state names")
            }
            let number = UInt64(survivors.withLock { $0.count })
            let ways = SimulatedDisk.PowerLoss.allCases
            let way = ways[Int(number) % ways.count]
            let survivor = disk.afterPowerLoss(seed: seed &+ number, keeping: way)
            let offset = flushed.withLock { $0 }
            survivors.withLock { $0.append(("\(kind) of \(path), \(way)", offset, survivor)) }
        }
        for _ in 0..<12 {
            try story.change()
            try story.write()
            flushed.withLock { $0 = story.flushed }
        }
        story.disk.beforeCall = nil
        let all = survivors.withLock { $0 }
        #expect(all.count > 60 && story.mergeSteps > 3)
        let file = try #require(story.disk.paths.first { $0.hasSuffix(".run") })
        #expect(StateStory.isNamed(file, on: story.disk) && !StateStory.isNamed("/s/views/0.run", on: story.disk))
        for survivor in all {
            try check(survivor.disk, story.models, since: survivor.offset, "before \(survivor.step)")
        }
    }

    @Test(
        "A call that fails leaves everything readable, and the next attempt does it",
        arguments: [
            (.create, .errno(28)), (.create, .doneThenErrno(5)), (.write, .errno(28)), (.write, .doneThenErrno(5)),
            (.write, .writeThenErrno(100, 28)), (.syncData, .errno(5)), (.syncData, .doneThenErrno(5)),
            (.syncData, .syncLoses), (.rename, .errno(28)), (.rename, .doneThenErrno(5)), (.syncDirectory, .errno(5)),
            (.syncDirectory, .doneThenErrno(5)), (.remove, .errno(28)), (.remove, .doneThenErrno(5)),
        ] as [(SimulatedDisk.CallKind, SimulatedDisk.FaultOutcome)])
    func faults(kind: SimulatedDisk.CallKind, outcome: SimulatedDisk.FaultOutcome) throws {
        for call in 1...6 {
            let step = "\(kind) \(call) \(outcome)"
            var story = try StateStory(seed: UInt64(call))
            for _ in 0..<5 {
                try story.change()
                try story.write()
            }
            let (calls, start) = (Lock(0), story.mergeSteps)
            story.disk.beforeCall = { found, path in
                if found == kind, path.contains("/views") { calls.withLock { $0 += 1 } }
            }
            story.disk.fail(kind, at: call, with: outcome, on: "/views")
            var failures = 0
            for round in 0..<12 where round < 4 || calls.withLock({ $0 < call }) {
                try story.change()
                do { try story.write() } catch is StrataError { failures += 1 }
            }
            // The files that cannot be removed are removed later.
            #expect(calls.withLock { $0 >= call } && (failures > 0 || kind == .remove), "\(step)")
            #expect(story.mergeSteps > start, "\(step)")
            story.disk.beforeCall = nil
            story.disk.heal()
            try story.change()
            try story.write()
            #expect(try story.store.snapshot().entries(StateStory.id) == story.expected, "\(step)")
            #expect(try StateStory.unnamedFiles(story.store, on: story.disk) == [], "\(step)")
            for way in SimulatedDisk.PowerLoss.allCases {
                let left = story.disk.afterPowerLoss(seed: UInt64(call), keeping: way)
                try check(left, story.models, since: story.round, "\(step), \(way)")
            }
        }
    }

    @Test("Short and interrupted calls are no errors", arguments: seeds(3))
    func stutter(seed: UInt64) throws {
        var story = try StateStory(seed: seed)
        let before = story.disk.count(of: .write)
        story.disk.stutter(seed: seed)
        for _ in 0..<8 {
            try story.change()
            try story.write()
        }
        let writes = story.disk.count(of: .write) - before
        #expect(story.mergeSteps > 0)
        #expect(try StateStory.open(story.disk).store.snapshot().entries(StateStory.id) == story.expected)
        story.disk.heal()
        var smooth = try StateStory(seed: seed)
        for _ in 0..<8 {
            try smooth.change()
            try smooth.write()
        }
        #expect(writes > smooth.disk.count(of: .write), "no call was short")
        try check(story.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced), story.models, since: 8, "stutter")
    }

    @Test("Attempts that fail leave no files, and what has no room is not begun")
    func attempts() throws {
        var story = try StateStory(seed: 5)
        for _ in 0..<3 {
            try story.change()
            try story.write()
        }
        try story.change(300)
        let names = try Set(story.disk.list("/s/views"))
        let usedBytes = story.disk.usedBytes
        let calls = [SimulatedDisk.CallKind.create, .write, .syncData].flatMap { kind in (1...3).map { (kind, $0) } }
        for (kind, call) in calls + [(.rename, 1), (.syncDirectory, 1)] {
            story.disk.fail(kind, from: call, with: .errno(28), on: "/views")
            for _ in 0..<5 { #expect(throws: StrataError.self) { try story.write() } }
            story.disk.heal()
            #expect(try Set(story.disk.list("/s/views")) == names, "\(kind) \(call)")
        }
        #expect(story.disk.usedBytes == usedBytes)
        try story.write()
    }

    @Test("A state that was not completed goes with the next one")
    func draft() throws {
        var story = try StateStory(seed: 4)
        story.disk.setContent([1, 2, 3], of: "/s/views/state-0000000000000007.new")
        try story.change()
        try story.write()
        #expect(!story.disk.paths.contains { $0.hasSuffix(".new") })
    }

    @Test("Opening removes files that no state names only if none is usable and all can be read")
    func leftFiles() throws {
        func names(_ content: [UInt8]? = nil, isValid: Bool, removing: String? = nil) throws -> Set<String> {
            var story = try StateStory(seed: 4)
            for _ in 0..<2 {
                try story.change()
                try story.write()
            }
            let disk = story.disk
            if let removing { for path in disk.paths where path.contains(removing) { try disk.removeFile(path) } }
            if let content { disk.setContent(content, of: "/s/views/state-0000000000000099") }
            for name in ["900.run", "901.blob"] { disk.setContent([1], of: "/s/views/" + name) }
            let before = try Set(disk.list("/s/views"))
            _ = try TreeStore.open(
                in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed, platform: Platform(files: disk),
                options: story.options
            ) { _ in isValid }
            return before.subtracting(try disk.list("/s/views"))
        }
        #expect(try names(isValid: true).isEmpty)
        #expect(try names(isValid: false) == ["900.run", "901.blob"])
        #expect(try names([1, 2, 3], isValid: false).isEmpty)
        let all = try names(isValid: true, removing: "/state-")
        #expect(all.isSuperset(of: ["900.run", "901.blob"]) && all.count > 2)
    }

    @Test("A file that cannot be removed does not keep the others, which the first error does not say")
    func stuckFile() throws {
        var story = try StateStory(seed: 4)
        try story.disk.makeDirectory("/s/views/700.run")
        for name in ["600.run", "800.run", "801.blob"] { story.disk.setContent([1], of: "/s/views/" + name) }
        try story.change()
        try story.write()
        #expect(try StateStory.unnamedFiles(story.store, on: story.disk) == ["700.run"])
        #expect(throws: StrataError.self) { try story.store.removeUnnamedFiles() }
        #expect(throws: StrataError.self) { try TreeStore.removeAll(in: StateStory.path, files: story.disk) }
        #expect(try story.disk.list("/s/views") == ["700.run"])
    }

    @Test("Kept states below the floor of the log go with the next state", arguments: [2, 3, 4] as [UInt64])
    func floor(_ floor: UInt64) throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk).store
        for offset in [1, 3, 9] as [UInt64] {
            let fork = try store.fork()
            try fork.put(StateStory.id, [UInt8(offset)], [1])
            try store.publish(fork)
            try store.flushAll(at: offset, floor: offset == 9 ? floor : 0)
        }
        let expected: [UInt64] = floor > 3 ? [] : [3]
        #expect(store.durable.withLock { $0.kept.map(\.position.offset) } == expected)
        #expect(try disk.list("/s/views").filter { $0.hasPrefix("state-") }.count == expected.count + 1)
    }

    @Test("While no state is written, merged files are removed all the same")
    func noState() throws {
        var story = try StateStory(seed: 4)
        for _ in 0..<30 {
            try story.change()
            try story.store.writeRuns()
        }
        let levels = story.store.state.withLock { $0.levels }
        let count = levels.numbers(of: .piece).count + levels.numbers(of: .blob).count
        #expect(try story.disk.list("/s/views").count == count)
    }

    @Test("Without room for it, no flush and no merge begins")
    func noRoom() throws {
        var story = try StateStory(seed: 6)
        try story.change(300)
        let disk = story.disk
        disk.beforeCall = { kind, path in #expect(kind != .create, "\(path)") }
        disk.capacityBytes = disk.usedBytes + 1_000
        let error = #expect(throws: StrataError.self) { try story.write() }
        #expect(error?.code == .noSpace)
        (disk.beforeCall, disk.capacityBytes) = (nil, nil)
        try story.store.flushAll(at: 1)
        try story.change(300)
        try story.store.flushAll(at: 2)
        disk.capacityBytes = disk.usedBytes + 1_000
        #expect(try !story.store.isMergeDue(isAtRest: true) && !story.store.mergeStep(isAtRest: true))
        disk.capacityBytes = nil
        #expect(try story.store.isMergeDue(isAtRest: true) && story.store.mergeStep(isAtRest: true))
    }

    @Test("Canary: a state whose files were not synced cannot be used", arguments: [".run", ".blob", ".none"])
    func unsyncedFile(suffix: String) throws {
        let disk = SimulatedDisk()
        var story = try StateStory(seed: 3, on: disk, through: UnsyncedFiles(files: disk, suffix: suffix))
        try story.change(300)
        try story.write()
        #expect([".run", ".blob"].allSatisfy { suffix in disk.paths.contains { $0.hasSuffix(suffix) } })
        let opened = try StateStory.open(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced))
        if suffix == ".none" {
            #expect(opened.finding == .whole && opened.state?.position.offset == 1)
        } else {
            #expect(opened.state == nil && opened.finding == .damaged)
        }
    }
}
