import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// The tiny store of segments 1 (commits 1 to 3), 4 (4 and 5) and 6 (6 to 9) with a base in place of all up to 4: its
/// segments begin at 4, with a commit that is not read any more.
private struct BaseForge {
    static let horizon: UInt64 = 4

    let store: TinyStore
    let commits: [Commit]
    var base: String { store.log + "/" + LogFormat.baseName(Self.horizon) }
    var floor: String { store.log + "/FLOOR" }

    init() throws {
        let forge = try StoreForge.three()
        (store, commits) = (forge.store, forge.commits)
        let log = try store.open()
        var sequence = CommitSequence(seed: 21)
        var payloads = [sequence.next(events: 3), sequence.next(events: 1)].map(\.payload)[...]
        try log.adopt(try log.writeBase(at: Self.horizon) { payloads.popFirst() })
        try log.close()
    }
}

@Suite("Damage of a base and its floor, and their repair")
struct BaseRepairTests {
    private let forge: BaseForge
    private var store: TinyStore { forge.store }

    init() throws { forge = try BaseForge() }

    /// Repairs, and sees that base and floor are what they were, and the log goes on behind them.
    private func expectRepaired(_ store: TinyStore, to last: Int, steps: [RepairPlan.Step.Kind], _ comment: String)
        throws
    {
        let plan = try store.repair()
        try check(plan.steps.map(\.kind) == steps, "\(comment): \(plan.steps) \(plan.obstacle ?? "")")
        try check(plan.end == forge.commits[last - 1].position, "\(comment): ends with \(plan.end)")
        for path in [forge.base, forge.floor] {
            try check(try store.disk.content(of: path) == self.store.disk.content(of: path), "\(comment): \(path)")
        }
        let report = store.verify()
        try check(report.damage == nil && report.base?.offset == BaseForge.horizon, "\(comment): \(report)")
        let log = try store.open()
        try check(try log.allCommits() == Array(forge.commits[4..<last]), "\(comment): other commits")
        try log.close()
    }

    @Test("A store with a base is whole; commits that it stands for are not counted")
    func whole() throws {
        let report = store.verify()
        #expect(report.damage == nil && report.base == forge.commits[3].position)
        #expect(report.commitCount == 5 && report.end == forge.commits[8].position)
        #expect(try store.repair().isWhole)
        let bytes = try ([forge.base] + store.segments).reduce(0) { try $0 + store.disk.content(of: $1).count }
        #expect(report.fileBytes == bytes)
    }

    @Test("Each byte of a base: found, and nothing is touched, since nothing else holds what it stands for")
    func everyByteOfTheBase() throws {
        for byte in try store.disk.content(of: forge.base).indices {
            let store = store.copy()
            try store.disk.flipBit(forge.base, byte: byte, bit: byte * 3 % 8)
            let report = store.verify()
            try check(report.damage?.context.path == forge.base, "byte \(byte): \(String(describing: report.damage))")
            try check(report.base == nil && report.end == .start && report.commitCount == 0, "byte \(byte)")
            try check(
                report.extent?.bytes.contains { $0.path == forge.base && $0.range.contains(byte) } == true,
                "byte \(byte) is not among \(report.extent?.bytes ?? [])")
            try check(report.extent?.standingOffsets.contains(9) == true, "byte \(byte)")
            let before = try store.files()
            let plan = try store.repair()
            try check(plan.obstacle?.hasPrefix("The base, which") == true, "byte \(byte): \(plan.obstacle ?? "")")
            try check(try store.files() == before, "byte \(byte): something was touched")
        }
    }

    @Test("A base that is missing, of another store, or cut off")
    func otherBases() throws {
        let missing = store.copy()
        try missing.disk.removeFile(forge.base)
        let foreign = store.copy()
        let header = try BaseHeader(decoding: store.disk.content(of: forge.base), path: forge.base)
        let other = try BaseHeader.make(
            storeID: Identifier(high: 1, low: 2), baseID: header.baseID, horizon: header.horizon, time: header.time)
        foreign.disk.setContent(other.bytes, of: forge.base)
        let cutOff = store.copy()
        try cutOff.disk.truncateFile(forge.base, to: try store.disk.content(of: forge.base).count - 8)
        for (store, code) in [
            (missing, StrataError.Code.missingSegment), (foreign, .foreignSegment), (cutOff, .impossibleLength),
        ] {
            #expect(store.verify().damage?.code == code && store.verify().damage?.context.path == forge.base)
            #expect(try store.repair().obstacle?.hasPrefix("The base, which replaces all commits") == true)
        }
    }

    @Test("Each byte of the floor, and a floor that is missing: the base says what it was")
    func everyByteOfTheFloor() throws {
        for byte in try store.disk.content(of: forge.floor).indices {
            let store = store.copy()
            try store.disk.flipBit(forge.floor, byte: byte, bit: byte * 3 % 8)
            let report = store.verify()
            try check(report.damage?.context.path == forge.floor, "byte \(byte): \(String(describing: report.damage))")
            try check(
                report.extent?.bytes.contains { $0.path == forge.floor && $0.range.contains(byte) } == true,
                "byte \(byte) is not among \(report.extent?.bytes ?? [])")
            try check(report.extent?.lostOffsets.isEmpty == true, "byte \(byte): \(String(describing: report.extent))")
            try expectRepaired(store, to: 9, steps: [.copy, .floor], "byte \(byte)")
        }
        let store = store.copy()
        try store.disk.removeFile(forge.floor)
        #expect(store.verify().damage?.code == .missingSegment)
        #expect(store.verify().damage?.context.path == forge.floor)
        try expectRepaired(store, to: 9, steps: [.floor], "without a floor")
    }

    @Test("Damage behind the horizon cuts the log there and keeps base and floor; damage in front of it stays")
    func behindTheHorizon() throws {
        let frames = SeenFrame.all(in: try store.disk.content(of: store.segment(4)))
        let behind = store.copy()
        try behind.disk.flipBit(store.segment(6), byte: 200, bit: 3)
        try expectRepaired(behind, to: 5, steps: [.copy, .cut], "the first commit of the newest segment")
        let first = store.copy()
        try first.disk.flipBit(store.segment(4), byte: frames[1].position + 70, bit: 3)
        try expectRepaired(first, to: 4, steps: [.copy, .move, .cut], "the first commit behind the horizon")
        let front = store.copy()
        try front.disk.flipBit(store.segment(4), byte: frames[0].position + 70, bit: 3)
        let plan = try front.repair()
        #expect(plan.obstacle?.hasPrefix("The beginning of the log is lost") == true && plan.steps.isEmpty)
    }

    @Test("A base that no floor names is left where it is")
    func leftover() throws {
        let store = store.copy()
        let path = store.log + "/" + LogFormat.baseName(2)
        store.disk.setContent([1, 2, 3], of: path)
        #expect(store.verify().damage == nil)
        try store.disk.flipBit(store.segment(6), byte: 200, bit: 3)
        #expect(try store.repair().steps.map(\.kind) == [.copy, .cut])
        #expect(try store.disk.content(of: path) == [1, 2, 3])
    }
}
