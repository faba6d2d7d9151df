import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Views come back from their states, or from the log; whatever is found, the answer is that of the log.
@Suite("Opening views")
struct ViewsOpeningTests {
    private static let path = "/Notes.strata"

    private let disk = SimulatedDisk()
    private var options = TreeStoreOptions()
    private static var views: String { path + "/views" }

    init() { options.frameBytes = 1_024 }

    private func platform(_ disk: SimulatedDisk) -> Platform {
        Platform(files: disk, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
    }

    private func openLog(_ disk: SimulatedDisk) throws -> SegmentedLog {
        try SegmentedLog.open(
            at: Self.path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0), platform: platform(disk))
    }

    private func openViews(_ log: SegmentedLog, _ disk: SimulatedDisk) throws -> OpenedViews {
        try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform(disk),
            options: options)
    }

    /// What a store does if a reader finds a damaged page that opening did not need.
    private func rebuildViews(_ log: SegmentedLog, _ disk: SimulatedDisk) throws -> OpenedViews {
        try Views.rebuild(
            log, store: log.identity.storeID, in: Self.path, platform: platform(disk), options: options)
    }

    /// A log of notes whose views have a state of all of it.
    private func stated(_ count: Int, seed: UInt64) throws -> (log: SegmentedLog, history: NoteHistory) {
        let log = try openLog(disk)
        var history = NoteHistory(seed: seed)
        try history.append(count, to: log)
        let views = try openViews(log, disk).views
        try views.settle()
        return (log, history)
    }

    /// What the log says, folded from its beginning.
    private func truth(_ log: any EventLog) throws -> Digests {
        try Views.inMemory(log, options: TreeStoreOptions()).trees.snapshot().digests()
    }

    private func expectTruth(_ opened: OpenedViews, _ log: SegmentedLog) throws {
        let snapshot = opened.views.trees.snapshot()
        #expect(try snapshot.digests() == truth(log))
        #expect(snapshot.foldedOffset(ViewTree.records) == log.end.offset)
        #expect(try !snapshot.isEmpty(ViewTree.records))
    }

    @Test("Opening takes the newest state and folds only what is behind it")
    func tail() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 1)
        try history.append(40, to: log)
        let first = try openViews(log, disk)
        #expect(first.finding == .missing && first.beginning == 0)
        try expectTruth(first, log)
        try first.views.settle()
        try history.append(7, to: log)
        let second = try openViews(log, disk)
        #expect(second.finding == .whole && second.beginning == 40)
        try expectTruth(second, log)
    }

    @Test("If the newest state is damaged, opening takes the one before it and folds what follows")
    func olderState() throws {
        var (log, history) = try stated(40, seed: 1)
        try history.append(7, to: log)
        try openViews(log, disk).views.settle()
        #expect(try openViews(log, disk).beginning == 47)
        try disk.flipBit(try #require(disk.paths.last { $0.contains("/state-") }), byte: 40, bit: 1)
        let opened = try openViews(log, disk)
        #expect(opened.finding == .olderState && opened.beginning == 40 && opened.reasons.count == 1)
        try expectTruth(opened, log)
    }

    @Test("A state is never ahead of what the log has synced: a flush syncs it")
    func aheadOfLog() throws {
        let log = try SegmentedLog.open(
            at: Self.path, options: LogOptions(durability: .system, segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform(disk))
        var history = NoteHistory(seed: 2)
        try history.append(3, to: log)
        disk.fail(.syncData, from: 1, with: .errno(5), on: "/log/")
        let opened = try openViews(log, disk)
        #expect(throws: StrataError.self) { try opened.views.settle() }
        #expect(opened.views.trees.durablePosition == nil)
    }

    /// The files of the views, with their contents.
    private func files(_ disk: SimulatedDisk) throws -> [String: [UInt8]] {
        let paths = disk.paths.filter { $0.hasPrefix(Self.views + "/") }
        return try Dictionary(uniqueKeysWithValues: paths.map { ($0, try disk.content(of: $0)) })
    }

    /// Replaces the files of the views.
    private func put(_ files: [String: [UInt8]], on disk: SimulatedDisk) throws {
        try disk.removeFiles(in: Self.views)
        for (path, bytes) in files { disk.setContent(bytes, of: path) }
    }

    @Test("A tail that was lost, and grew again or not, makes a state stale, not wrong", arguments: [4, 10, 30])
    func staleState(commits: Int) throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 3)
        try history.append(10, to: log)
        let before = disk.afterPowerLoss(seed: 1, keeping: .everything)
        var other = history
        try history.append(10, to: log)
        let opened = try openViews(log, disk)
        try opened.views.settle()
        // The log of another course of things, with these views.
        let views = try files(disk)
        let otherLog = try openLog(before)
        other.diverge(seed: 99)
        try other.append(commits, to: otherLog)
        try put(views, on: before)
        let again = try openViews(otherLog, before)
        #expect(again.finding == .stale)
        try expectTruth(again, otherLog)
    }

    @Test("Views of a store that is another's are not taken")
    func foreign() throws {
        _ = try stated(5, seed: 4)
        let elsewhere = SimulatedDisk()
        let otherLog = try SegmentedLog.open(
            at: Self.path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: Platform(files: elsewhere, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 77)))
        var other = NoteHistory(seed: 5)
        try other.append(5, to: otherLog)
        try put(files(disk), on: elsewhere)
        let again = try openViews(otherLog, elsewhere)
        #expect(again.finding == .foreign)
        try expectTruth(again, otherLog)
    }

    @Test("Whatever byte of a file of the views is wrong, opening gives what the log says")
    func damage() throws {
        let (log, before) = try stated(60, seed: 6)
        var history = before
        try history.append(20, to: log)
        let good = try files(disk)
        let expected = try truth(log)
        var generator = SeededGenerator(seed: 1)
        var (noticed, rebuilt) = (0, 0)
        for _ in 0..<60 {
            var bad = good
            let path = try #require(good.keys.sorted().randomElement(using: &generator))
            let place = generator.next(below: good[path]?.count ?? 1)
            bad[path]?[place] ^= UInt8(1 << generator.next(below: 8))
            try put(bad, on: disk)
            let opened = try openViews(log, disk)
            if opened.finding != .whole { noticed += 1 }
            do {
                #expect(try everything(opened) == expected, "byte \(place) of \(path)")
            } catch let error as StrataError {
                // A frame that opening did not need is an error of each reader, until the views are folded again.
                #expect(error.code == .badChecksum && Views.isDamage(error), "byte \(place) of \(path)")
                #expect(try everything(rebuildViews(log, disk)) == expected, "byte \(place) of \(path)")
                rebuilt += 1
            }
        }
        #expect(noticed > 0 && rebuilt > 0)
    }

    @Test("A file that is missing, of another number or cut is noticed", arguments: ["missing", "swapped", "cut"])
    func wrongFile(_ way: String) throws {
        let (log, _) = try stated(60, seed: 6)
        var history = NoteHistory(seed: 9)
        history.diverge(seed: 3)
        let good = try files(disk)
        let expected = try truth(log)
        for path in good.keys.sorted() {
            var bad = good
            switch way {
            case "missing": bad[path] = nil
            case "swapped": bad[path] = good.first { $0.key != path }?.value
            default: bad[path]?.removeLast(100)
            }
            try put(bad, on: disk)
            let opened = try openViews(log, disk)
            #expect(opened.finding != .whole, "\(path)")
            #expect(try everything(opened) == expected, "\(path)")
        }
    }

    /// The digests, after every frame of every tree has been read.
    private func everything(_ opened: OpenedViews) throws -> Digests {
        let snapshot = opened.views.trees.snapshot()
        for id in snapshot.trees { try snapshot.scan(id) { _, _ in true } }
        return try snapshot.digests()
    }

    @Test("Views of another form are folded again", arguments: [Views.form - 1, Views.form + 1])
    func otherForm(form: UInt16) throws {
        let (log, _) = try stated(6, seed: 7)
        var changed = try files(disk)
        for (path, bytes) in changed where path.contains("/state-") {
            // The form follows the magic and the version; the checksum is at the end.
            var bytes = bytes
            bytes.replaceSubrange(10..<12, with: withUnsafeBytes(of: form.littleEndian) { [UInt8]($0) })
            let sum = bytes.dropLast(4).withUnsafeBytes { CRC32C.checksum($0) }
            bytes.replaceSubrange(
                bytes.count - 4..<bytes.count, with: withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) })
            changed[path] = bytes
        }
        try put(changed, on: disk)
        let again = try openViews(log, disk)
        #expect(again.finding == .otherForm && again.beginning == 0)
        try expectTruth(again, log)
    }

    @Test("The page file of an earlier release is removed, and the log folded again")
    func pageFile() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 7)
        try history.append(6, to: log)
        for name in ["views", "views.damaged", "readers"] {
            disk.setContent([UInt8](repeating: 7, count: 8_192), of: Self.path + "/" + name)
        }
        let opened = try openViews(log, disk)
        #expect(opened.finding == .missing && opened.beginning == 0)
        try expectTruth(opened, log)
        #expect(!disk.paths.contains { $0.hasSuffix("/readers") || $0.hasSuffix(".damaged") })
        try opened.views.settle()
        #expect(try openViews(log, disk).beginning == 6)
    }

    /// An earlier build that met the directory of this one put a page file in its place. Its writes may be in the log.
    @Test("A directory that an earlier build has set aside gets its name back", arguments: [true, false])
    func setAside(hasPageFile: Bool) throws {
        let directory = try TestDirectory()
        let log = try SegmentedLog.open(at: directory.path("s"), options: LogOptions(), platform: Platform())
        var history = NoteHistory(seed: 7)
        try history.append(6, to: log)
        func open() throws -> OpenedViews { try Views.open(log, store: log.identity.storeID, in: directory.path("s")) }
        _ = try open()
        let (files, path) = (RealFileSystem(), directory.path("s/views"))
        try files.rename(path, to: path + ".damaged")
        if hasPageFile {
            let file = try files.open(path, .create)
            try file.write([7, 7], at: 0)
            file.close()
        }
        try history.append(1, to: log)
        let opened = try open()
        #expect(opened.finding == .whole && opened.beginning == 6)
        #expect(try !files.exists(path + ".damaged"))
        try expectTruth(opened, log)
    }

    @Test("Where the page file of an earlier build is, there are no states, and it can be removed to make room")
    func noStates() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 7)
        try history.append(6, to: log)
        let id = log.identity.storeID
        disk.setContent([UInt8](repeating: 7, count: 8_192), of: Self.views)
        #expect(try !TreeStore.hasStates(in: Self.path, files: disk))
        let reader = try LogReader.open(at: Self.path, platform: platform(disk))
        #expect(try Views.summary(of: reader, in: Self.path, files: disk) == nil)
        #expect(try CheckedStates.open(in: Self.path, Views.owner(id), files: disk, isValid: log.has) == nil)
        let read = try Views.openForReading(log, store: id, in: Self.path, platform: platform(disk))
        #expect(read.finding == .missing)
        try expectTruth(read, log)
        try TreeStore.discardStates(in: Self.path, files: disk)
        #expect(try disk.exists(Self.views))
        try TreeStore.removeAll(in: Self.path, files: disk)
        #expect(try !disk.exists(Self.views))
    }

    /// The bytes of all files of the views.
    private func byteCount(_ disk: SimulatedDisk) throws -> Int { try files(disk).values.reduce(0) { $0 + $1.count } }

    /// A log, closed, whose views are folded from a base.
    private func makeBase(_ count: Int, seed: UInt64) throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: seed)
        try history.append(count, to: log)
        let state = try Views.inMemory(log).trees.snapshot()
        var scan = try BaseScan(state, chain: log.chain(at: UInt64(count)))
        try log.adopt(try log.writeBase(at: UInt64(count)) { try scan.next().map { $0[...] } })
        try log.close()
    }

    @Test("What is folded from a base is durable before the store is open, however often power goes")
    func baseIsDurable() throws {
        try makeBase(300, seed: 11)
        var small = self
        small.options.generationBytes = 32 << 10
        var (current, sizes) = (disk, [Int]())
        for round in 0..<5 {
            let log = try openLog(current)
            let opened = try small.openViews(log, current)
            #expect(opened.finding == (round == 0 ? .missing : .whole) && opened.beginning == (round == 0 ? 0 : 300))
            try expectTruth(opened, log)
            sizes.append(try byteCount(current))
            current = current.afterPowerLoss(seed: UInt64(round), keeping: .nothingUnsynced)
        }
        #expect(Set(sizes).count == 1, "\(sizes)")
    }

    @Test("Views that are rebuilt are durable at once, and take the place of the old files")
    func rebuiltIsDurable() throws {
        let (log, _) = try stated(60, seed: 6)
        let before = try byteCount(disk)
        let rebuilt = try rebuildViews(log, disk)
        #expect(rebuilt.views.trees.durablePosition?.offset == 60)
        #expect(try byteCount(disk) == before)
        let again = try openViews(log, disk)
        #expect(again.finding == .whole && again.beginning == 60)
    }

    @Test("A build goes on where a state met it, and commits after that have their rows", arguments: [0, 1, 3])
    func indexes(slices: Int) throws {
        let (log, first) = try stated(300, seed: 8)
        var history = first
        try history.declareTitle(.queryable, to: log)
        let opened = try openViews(log, disk)
        let pages = opened.views.trees
        let id = try #require(try IndexCatalog(pages.snapshot()).building.keys.first)
        var build = IndexBuild()
        func slice(_ pages: TreeStore) throws -> Bool {
            let fork = try pages.fork()
            let hasMore = try build.advance(fork, from: pages.snapshot()) { true }
            try pages.publish(fork)
            return hasMore
        }
        for number in 0..<slices { #expect(try slice(pages) == (number < 2), "some 390 records, 256 at a time") }
        try opened.views.settle()
        try history.append(10, to: log)
        let again = try openViews(log, disk)
        let newest = again.views.trees.snapshot()
        #expect(try IndexCatalog(newest)[id] == IndexCatalog(pages.snapshot())[id])
        #expect(try newest.isEmpty(ViewTree.index) == (slices == 0))
        #expect(try again.views.scrub(newest).isWhole)
        build = IndexBuild()
        var count = 0
        while try slice(again.views.trees) { count += 1 }
        #expect(count == max(0, 2 - slices))
        let snapshot = again.views.trees.snapshot()
        #expect(try IndexCatalog(snapshot)[id] == .ready)
        #expect(try snapshot.entryCount(ViewTree.index) == snapshot.entryCount(ViewTree.records))
        #expect(try again.views.scrub(snapshot).isWhole)
    }

    @Test("What took long to fold is made durable before the store is open")
    func longTail() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 9)
        try history.append(400, to: log)
        var small = self
        small.options.generationBytes = 32 << 10
        let opened = try small.openViews(log, disk)
        try expectTruth(opened, log)
        #expect(opened.views.trees.durablePosition != nil)
        #expect(try openViews(log, disk).beginning == opened.views.trees.durablePosition?.offset)
    }

    @Test("A state that cannot be written while the log is folded prevents no opening")
    func fullDisk() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 10)
        try history.append(400, to: log)
        disk.fail(.write, from: 1, with: .errno(28), on: "/views")
        var small = self
        small.options.generationBytes = 32 << 10
        let opened = try small.openViews(log, disk)
        try expectTruth(opened, log)
        #expect(opened.reasons.contains { $0.code == .noSpace } && opened.views.trees.durablePosition == nil)
        disk.heal()
        try opened.views.settle()
        #expect(try openViews(log, disk).beginning == 400)
    }

    private static let changes: Set<SimulatedDisk.CallKind> = [
        .create, .write, .rename, .remove, .syncData, .syncDirectory, .truncate, .allocate, .makeDirectory,
    ]

    @Test("Before each changing call of an opening power may go: the next one comes to the same", arguments: [0, 100])
    func powerLossWhileOpening(stated count: Int) throws {
        if count == 0 {
            try makeBase(150, seed: 12)
        } else {
            var (log, history) = try stated(count, seed: 12)
            try history.append(150 - count, to: log)
            try log.close()
        }
        var small = self
        small.options.generationBytes = 16 << 10
        let log = try openLog(disk)
        let survivors = Lock<[(step: String, disk: SimulatedDisk)]>([])
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, Self.changes.contains(kind), path.contains("/views") else { return }
            for way in SimulatedDisk.PowerLoss.allCases {
                survivors.withLock { survivors in
                    let left = disk.afterPowerLoss(seed: UInt64(survivors.count), keeping: way)
                    survivors.append(("\(kind) of \(path), \(way)", left))
                }
            }
        }
        #expect(try small.openViews(log, disk).views.trees.durablePosition?.offset == 150)
        disk.beforeCall = nil
        let expected = try truth(log)
        var beginnings: Set<UInt64> = []
        for (step, left) in survivors.withLock({ $0 }) {
            let log = try openLog(left)
            let opened = try openViews(log, left)
            #expect(try everything(opened) == expected, "before \(step)")
            beginnings.insert(opened.beginning)
            try opened.views.settle()
            let again = try openViews(log, left)
            #expect(again.finding == .whole && again.beginning == 150, "before \(step)")
            #expect(try everything(again) == expected, "before \(step)")
        }
        #expect(survivors.withLock { $0.count } > 20 && beginnings == [UInt64(count), 150])
    }

    @Test("Power may go at any moment: what comes back is what the log has")
    func powerLoss() throws {
        try withSeeds(12) { seed in
            let disk = SimulatedDisk()
            let log = try openLog(disk)
            var history = NoteHistory(seed: seed)
            try history.append(20, to: log)
            var opened = try openViews(log, disk)
            for round in 0..<4 {
                try history.append(5, to: log)
                opened = try openViews(log, disk)
                if round % 2 == 0 { try opened.views.settle() }
            }
            let left = disk.afterPowerLoss(seed: seed, keeping: .random)
            let again = try openLog(left)
            try expectTruth(try openViews(again, left), again)
        }
    }
}
