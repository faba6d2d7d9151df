import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

extension TinyStore {
    func plan() throws -> RepairPlan { try LogRepair.plan(at: path, platform: platform) }

    @discardableResult
    func repair() throws -> RepairPlan { try LogRepair.apply(at: path, platform: platform) }

    /// All files but the lock.
    func files() throws -> [String: [UInt8]] {
        let paths = disk.paths.filter { !$0.hasSuffix("/LOCK") }
        return try Dictionary(uniqueKeysWithValues: paths.map { ($0, try disk.content(of: $0)) })
    }
}

/// Segments 1 (commits 1 to 3), 4 (4 and 5) and 6 (6 to 9), the last with a mark.
@Suite("Repair")
struct RepairTests {
    private let forge: StoreForge
    private var store: TinyStore { forge.store }

    init() throws { forge = try StoreForge.three() }

    /// As it was before any damage.
    private func frame(_ segment: UInt64, _ index: Int) throws -> SeenFrame {
        let whole = try StoreForge.three().store
        return try #require(SeenFrame.all(in: whole.disk.content(of: whole.segment(segment))).dropFirst(index).first)
    }

    /// Repairs, and sees that the log ends with `last`, opens, and goes on.
    private func expectRepaired(to last: Int, steps: [RepairPlan.Step.Kind]) throws {
        let damaged = store.copy()
        let before = try store.files()
        let plan = try store.plan()
        #expect(try store.files() == before, "a plan changes nothing")
        #expect(plan.steps.map(\.kind) == steps && plan.end.offset == UInt64(last) && plan.obstacle == nil)
        #expect(try store.repair().steps == plan.steps)
        let report = store.verify()
        #expect(report.damage == nil && report.end.offset == UInt64(last), "\(String(describing: report.damage))")
        let repaired = try store.files()
        #expect(try store.repair().isWhole && store.files() == repaired, "a second repair does nothing")
        try SurvivalOracle(damaged).checkNothingIsThrownAway(damaged, store)
        let log = try store.open()
        #expect(try log.allCommits() == Array(forge.commits[..<last]))
        var sequence = CommitSequence(seed: 3)
        var commit = sequence.next()
        commit.time += log.endTime ?? 0
        _ = try log.append([commit], expecting: log.end)
        try log.close()
        #expect(store.verify().damage == nil && store.verify().end.offset == UInt64(last) + 1)
    }

    @Test("A log that is whole is left alone")
    func whole() throws {
        let before = try store.files()
        let plan = try store.repair()
        #expect(plan.isWhole && plan.steps.isEmpty && plan.note == nil && plan.obstacle == nil)
        #expect(try store.files() == before)
    }

    @Test("A log with an unfinished tail is whole: opening it cuts that")
    func unfinishedTail() throws {
        let count = try store.disk.content(of: store.segment(6)).count
        try store.disk.overwrite(store.segment(6), at: count, with: [1, 2, 3])
        #expect(try store.plan().isWhole)
    }

    @Test("A commit that decayed in the newest segment: the log ends in front of it", arguments: 0..<4)
    func newestSegment(index: Int) throws {
        let frame = try frame(6, index)
        try store.disk.flipBit(store.segment(6), byte: frame.position + 66, bit: 2)
        let plan = try store.plan()
        #expect(plan.lostOffsets.ranges == [frame.offset...9])
        #expect(plan.keptAsideOffsets.ranges == (frame.offset < 9 ? [frame.offset + 1...9] : []))
        try expectRepaired(to: 5 + index, steps: [.copy, .cut])
        #expect(try store.disk.content(of: store.segment(6)).count >= frame.position)
    }

    @Test("A commit that decayed in a closed segment: later segments leave as they are", arguments: 0..<3)
    func closedSegment(index: Int) throws {
        let later = try [store.segment(4), store.segment(6)].map { ($0, try store.disk.content(of: $0)) }
        try store.disk.flipBit(store.segment(1), byte: try frame(1, index).position + 66, bit: 2)
        let plan = try store.plan()
        #expect(plan.lostOffsets.ranges == [UInt64(index) + 1...9])
        try expectRepaired(to: index, steps: [.copy, .move, .move, .cut])
        for (path, content) in later { #expect(try store.disk.content(of: path + ".repaired-1") == content) }
    }

    @Test("A segment that is missing, of another store, or another one of this store")
    func wrongSegments() throws {
        let content = try store.disk.content(of: store.segment(4))
        for variant in 0..<3 {
            let forge = try StoreForge.three()
            switch variant {
            case 0: try forge.store.disk.removeFile(store.segment(4))
            case 1:
                let other = try StoreForge.three(seed: 99).store
                forge.store.disk.setContent(try other.disk.content(of: store.segment(4)), of: store.segment(4))
            default: try forge.store.disk.copyFile(store.segment(6), to: store.segment(4))
            }
            #expect(content.count > 128)
            let tests = RepairTests(forge: forge)
            try tests.expectRepaired(to: 3, steps: variant == 0 ? [.move] : [.move, .move])
        }
    }

    private init(forge: StoreForge) { self.forge = forge }

    @Test("A seal that is damaged or lost is written again: nothing is lost", arguments: 0..<3)
    func seal(variant: Int) throws {
        let seal = try frame(1, 3)
        switch variant {
        case 0: try store.disk.flipBit(store.segment(1), byte: seal.position + 30, bit: 1)
        case 1: try store.disk.truncateFile(store.segment(1), to: seal.position)
        default: try store.disk.overwrite(store.segment(1), at: seal.range.upperBound + 16, with: [1, 2, 3])
        }
        #expect(try store.plan().lostOffsets.isEmpty)
        try expectRepaired(to: 9, steps: [.copy, .seal])
    }

    @Test("A seal whose successor does not vouch for it is not invented")
    func unprovenSeal() throws {
        let seal = try frame(4, 2)
        try store.disk.truncateFile(store.segment(4), to: seal.position)
        try store.disk.removeFile(store.segment(6))
        #expect(try store.plan().isWhole, "without a successor it is the newest segment")
        let forge = try StoreForge.three()
        try forge.store.disk.truncateFile(store.segment(4), to: seal.position - 8)
        try RepairTests(forge: forge).expectRepaired(to: 4, steps: [.copy, .move, .cut])
    }

    @Test("A header is written again where its checksum or all else vouches for it", arguments: [1, 4, 6] as [UInt64])
    func header(segment: UInt64) throws {
        for byte in [0, 11, 13, 20, 44, 60, 68, 83, 90, 120] {
            let forge = try StoreForge.three()
            try forge.store.disk.flipBit(store.segment(segment), byte: byte, bit: 3)
            try RepairTests(forge: forge).expectRepaired(to: 9, steps: [.copy, .header])
            #expect(try forge.store.disk.content(of: store.segment(1)) == store.disk.content(of: store.segment(1)))
        }
    }

    @Test("A header whose segment has another id than anything tells")
    func unprovenHeader() throws {
        try store.disk.flipBit(store.segment(4), byte: 70, bit: 3)
        try store.disk.flipBit(store.segment(4), byte: 80, bit: 3)
        try expectRepaired(to: 3, steps: [.move, .move])
    }

    @Test("Damage in several places: what can be mended is, up to the first that cannot")
    func severalPlaces() throws {
        try store.disk.flipBit(store.segment(1), byte: 20, bit: 3)
        try store.disk.flipBit(store.segment(1), byte: try frame(1, 3).position + 1, bit: 3)
        try store.disk.flipBit(store.segment(6), byte: try frame(6, 1).position + 1, bit: 3)
        try expectRepaired(to: 6, steps: [.copy, .copy, .header, .seal, .cut])
    }

    @Test("What cannot be repaired is said, and nothing is touched")
    func obstacles() throws {
        let damages: [(String, (TinyStore) throws -> Void)] = [
            ("The beginning", { try $0.disk.removeFile($0.segment(1)) }),
            ("The beginning", { for path in $0.segments { try $0.disk.removeFile(path) } }),
            ("The beginning", { try $0.disk.truncateFile($0.segment(1), to: 100) }),
            ("STORE is damaged", { try $0.disk.flipBit($0.path + "/STORE", byte: 20, bit: 1) }),
            ("newer format", { try $0.disk.patchHeader($0.segment(4), at: 8, with: [2, 0]) }),
            (
                "The beginning",
                {
                    let id = try $0.reader().identity.storeID
                    let floor = FloorMark(storeID: id, position: Position(offset: 100, chain: 1), time: 0)
                    $0.disk.setContent(floor.encoded(), of: $0.log + "/FLOOR")
                }
            ),
            (
                "FLOOR is damaged",
                {
                    $0.disk.setContent([1, 2, 3], of: $0.log + "/FLOOR")
                    try $0.disk.removeFile($0.segment(4))
                }
            ),
        ]
        for (text, damage) in damages {
            let store = try StoreForge.three().store
            try damage(store)
            let before = try store.files()
            let plan = try store.repair()
            #expect(plan.obstacle?.contains(text) == true, "\(plan.obstacle ?? "nothing in the way")")
            #expect(plan.steps.isEmpty && !plan.isWhole)
            #expect(try store.files() == before)
        }
        let none = TinyStore()
        #expect(thrownCode { try none.repair() } == .notAStore)
        #expect(none.disk.paths.isEmpty)
    }

    @Test("A damaged floor is told by where the segments begin")
    func floor() throws {
        let mark = FloorMark(
            storeID: try store.reader().identity.storeID, position: forge.commits[2].position,
            time: forge.commits[2].time)
        let path = store.log + "/FLOOR"
        for first in [1, 4] as [UInt64] {
            let store = store.copy()
            if first == 4 { try store.disk.removeFile(store.segment(1)) }
            var bytes = mark.encoded()
            bytes[20] ^= 1
            store.disk.setContent(bytes, of: path)
            let plan = try store.repair()
            #expect(plan.steps.map(\.kind) == (first == 1 ? [.move] : [.copy, .floor]) && plan.lostOffsets.isEmpty)
            #expect(store.verify().damage == nil)
            #expect(try store.open().allCommits() == Array(forge.commits[(Int(first) - 1)...]))
            #expect(try store.disk.content(of: path + ".repaired-1") == bytes)
            if first == 4 { #expect(try store.disk.content(of: path) == mark.encoded()) }
        }
    }

    @Test("Damage behind the floor keeps the floor; damage in front of it ends all")
    func behindFloor() throws {
        let mark = FloorMark(
            storeID: try store.reader().identity.storeID, position: forge.commits[2].position,
            time: forge.commits[2].time)
        store.disk.setContent(mark.encoded(), of: store.log + "/FLOOR")
        try store.disk.removeFile(store.segment(1))
        try store.disk.flipBit(store.segment(4), byte: 130, bit: 1)
        let plan = try store.repair()
        #expect(plan.end == mark.position && plan.steps.map(\.kind) == [.copy, .move, .cut])
        #expect(try store.open().end == mark.position)
    }

    @Test("A commit that cannot be understood is damage like any other")
    func payload() throws {
        var sequence = CommitSequence(seed: 1)
        var forge = try StoreForge()
        try forge.addSegment([[sequence.next(), sequence.next([1, 0]), sequence.next()]], .mark)
        let plan = try forge.store.repair()
        #expect(plan.end.offset == 1 && plan.lostOffsets.ranges == [2...3] && plan.keptAsideOffsets.ranges == [3...3])
        #expect(try forge.store.open().allCommits() == Array(forge.commits[..<1]))
    }

    @Test("A commit of a later release is no damage: nothing is touched, and it is said what is needed")
    func newerPayload() throws {
        var sequence = CommitSequence(seed: 1)
        var forge = try StoreForge()
        try forge.addSegment([[sequence.next(), sequence.next([2, 0, 1, 16, 0]), sequence.next()]], .mark)
        let before = try forge.store.files()
        let report = forge.store.verify()
        #expect(report.damage?.code == .newerFormat && report.damage?.context.offset == 2 && report.end.offset == 1)
        let plan = try forge.store.repair()
        #expect(plan.obstacle?.contains("newer format") == true && plan.steps.isEmpty)
        #expect(try forge.store.files() == before)
    }

    @Test("Repairs are numbered, and each leaves a note of what it did")
    func notes() throws {
        try store.disk.flipBit(store.segment(6), byte: try frame(6, 2).position, bit: 1)
        let first = try store.repair()
        #expect(first.note == store.log + "/repaired-1.txt")
        let text = String(decoding: try store.disk.content(of: store.log + "/repaired-1.txt"), as: UTF8.self)
        for line in [
            "damage: No frame begins at this position. [in /Notes.strata/log/00000000000000000006.seg,",
            "the log now ends with: \(forge.commits[6].position)", "offsets that it no longer has: 8 to 9",
            "of these, intact in the files kept here: 9",
            "copy 00000000000000000006.seg to 00000000000000000006.seg.repaired-1", "cut 00000000000000000006.seg at",
        ] {
            #expect(text.contains("\n" + line), "\(line) in \(text)")
        }
        try store.disk.flipBit(store.segment(4), byte: try frame(4, 0).position, bit: 1)
        #expect(try store.repair().steps.compactMap(\.target).allSatisfy { $0.hasSuffix(".repaired-2") })
        #expect(store.disk.paths.contains(store.segment(6) + ".repaired-2"))
        #expect(try store.open().end.offset == 3)
    }

    @Test("It refuses while a program writes, and lets programs write afterwards")
    func lock() throws {
        let log = try store.open()
        try store.disk.flipBit(store.segment(1), byte: try frame(1, 1).position, bit: 1)
        #expect(thrownCode { try store.repair() } == .locked)
        #expect(try !store.plan().isWhole)
        try log.close()
        try store.repair()
        _ = try store.open()
    }

    @Test("Every damage that has a name: after a repair the log opens, or the plan says why not")
    func named() throws {
        for damage in NamedDamage.headers + NamedDamage.segments + NamedDamage.frames where damage.code != .notAStore {
            let forge = try StoreForge.three(damage.ending)
            try damage.damage(forge.store)
            let plan = try forge.store.plan()
            #expect(!plan.isWhole, "\(damage.testDescription)")
            let before = try forge.store.files()
            try forge.store.repair()
            if plan.obstacle != nil {
                #expect(try forge.store.files() == before, "\(damage.testDescription)")
                continue
            }
            #expect(forge.store.verify().damage == nil, "\(damage.testDescription)")
            let commits = try forge.store.open().allCommits()
            #expect(commits == Array(forge.commits[..<commits.count]), "\(damage.testDescription)")
            #expect(commits.last?.offset ?? 0 == plan.end.offset, "\(damage.testDescription)")
        }
    }
}

@Suite("Repair after damage at random")
struct RandomRepairTests {
    @Test("Just the commits survive that must, and nothing is thrown away", arguments: seeds(120))
    func survivors(seed: UInt64) throws {
        let endings: [StoreForge.Ending] = [.mark, .seal, .open]
        let forge = try StoreForge.three(endings[Int(seed % 3)], seed: seed)
        let stranger = try StoreForge.three(seed: seed &+ 1_000).store
        let store = forge.store
        let oracle = try SurvivalOracle(store)
        var damage = RandomDamage(seed: seed)
        try damage.apply(to: store, stranger: stranger)
        let damaged = store.copy()
        let expected = try oracle.lastOffset(in: damaged)
        let plan = try store.repair()
        guard let expected else {
            try check(plan.obstacle != nil, "\(damage.description) should be beyond repair")
            return
        }
        try check(plan.obstacle == nil, "\(damage.description) \(plan.obstacle ?? "")")
        try oracle.checkNothingIsThrownAway(damaged, store)
        let repaired = try store.files()
        try check(try store.repair().steps.isEmpty && store.files() == repaired, "again: \(damage.description)")
        let log = try store.open()
        let difference = firstDifference(try log.allCommits(), Array(forge.commits[..<Int(expected)]))
        try check(difference == nil, "\(damage.description) \(difference ?? "")")
        try log.close()
        try check(store.verify().damage == nil, "verify after \(damage.description)")
    }
}
