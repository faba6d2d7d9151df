import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("The simulated disk: calls that fail")
struct SimulatedDiskFaultTests {
    typealias CallKind = SimulatedDisk.CallKind
    private let disk = SimulatedDisk()

    init() { disk.setContent([1, 2, 3, 4], of: "/d/a") }

    /// One call of each kind, as programs make it.
    private func perform(_ kind: CallKind, on disk: SimulatedDisk) throws {
        let file = try disk.open("/d/a", .write)
        switch kind {
        case .open: _ = try disk.open("/d/a", .read)
        case .create: _ = try disk.open("/d/new", .writeOrCreate)
        case .exists: _ = try disk.exists("/d/a")
        case .size: _ = try file.size()
        case .read: _ = try file.read(count: 4, at: 0)
        case .write: try file.write([9], at: 0)
        case .syncData: try file.syncData()
        case .allocate: try file.allocate(0..<100)
        case .truncate: try file.truncate(to: 2)
        case .map: _ = try file.map(length: 2)
        case .lock: _ = try file.tryLock()
        case .touch: try file.touch()
        case .makeDirectory: try disk.makeDirectory("/d/sub")
        case .rename: try disk.rename("/d/a", to: "/d/b")
        case .remove: try disk.remove("/d/a")
        case .list: _ = try disk.list("/d")
        case .syncDirectory: try disk.syncDirectory("/d")
        }
    }

    @Test(
        "Every kind of call is counted, shown to the hook, and fails with what was chosen", arguments: CallKind.allCases
    )
    func everyKind(kind: CallKind) throws {
        let seen = Monitor<[CallKind]>([])
        disk.beforeCall = { kind, _ in seen.withLock { $0.append(kind) } }
        // The helper opens the file first, so that the call in question is the second to open one.
        disk.fail(kind, at: kind == .open ? 2 : 1, with: .errno(ENOSPC))
        let before = disk.afterPowerLoss(seed: 1, keeping: .everything)
        let error = #expect(throws: StrataError.self) { try perform(kind, on: disk) }
        #expect(error?.code == .noSpace)
        #expect(error?.context.errno == ENOSPC)
        #expect(disk.count(of: kind) == (kind == .open ? 2 : 1))
        #expect(seen.withLock { $0.last } == kind)
        #expect(disk.paths == before.paths)
        #expect(try disk.content(of: "/d/a") == [1, 2, 3, 4], "a call that failed did nothing")
        try perform(kind, on: disk)
    }

    @Test("The k-th call fails, no other", arguments: [1, 2, 5])
    func kthCall(call: Int) throws {
        let file = try disk.open("/d/a", .write)
        try file.write([0], at: 0)
        disk.fail(.write, at: call, with: .errno(EIO))
        let failed = (1...6).filter { _ in thrownCode { try file.write([1], at: 0) } == .inputOutput }
        #expect(failed == [call])
        #expect(disk.count(of: .write) == 7)
    }

    @Test("From the k-th call on all fail, until the disk is healed")
    func persistentFault() throws {
        let file = try disk.open("/d/a", .write)
        disk.fail(.syncData, from: 3, with: .errno(EIO))
        #expect(
            (1...5).map { _ in thrownCode { try file.sync() } } == [nil, nil, .inputOutput, .inputOutput, .inputOutput])
        disk.heal()
        try file.sync()
    }

    @Test("A fault for some paths neither fails nor counts the calls of others")
    func pathFault() throws {
        let other = try disk.open("/d/other", .create)
        let file = try disk.open("/d/a", .write)
        disk.fail(.write, at: 2, with: .errno(EIO), on: "/d/a")
        for _ in 1...3 { try other.write([1], at: 0) }
        try file.write([1], at: 0)
        #expect(thrownCode { try file.write([2], at: 0) } == .inputOutput)
        try file.write([3], at: 0)
    }

    @Test("A call can be done and reported as failed all the same")
    func doneThenFailed() throws {
        disk.fail(.rename, at: 1, with: .doneThenErrno(EIO))
        #expect(thrownCode { try disk.rename("/d/a", to: "/d/b") } == .inputOutput)
        #expect(disk.paths == ["/d/b"])
        disk.fail(.open, at: 1, with: .doneThenErrno(EIO))
        #expect(thrownCode { _ = try disk.open("/d/b", .write) } == .inputOutput)
        #expect(try disk.open("/d/b", .write).tryLock(), "the file that was opened in vain is closed")
    }

    @Test("A write can fail after some of its bytes")
    func partialWrite() throws {
        let file = try disk.open("/d/a", .write)
        disk.fail(.write, at: 1, with: .writeThenErrno(2, EIO))
        #expect(thrownCode { try file.write([7, 7, 7, 7, 7], at: 1) } == .inputOutput)
        #expect(try disk.content(of: "/d/a") == [1, 7, 7, 4])
    }

    @Test("A sync that loses leaves the data readable, and no later sync writes it")
    func losingSync() throws {
        let file = try disk.open("/d/a", .write)
        try file.write([9, 9, 9, 9], at: 0)
        disk.fail(.syncData, at: 1, with: .syncLoses)
        #expect(thrownCode { try file.sync() } == .inputOutput)
        try file.sync()
        #expect(try disk.content(of: "/d/a") == [9, 9, 9, 9])
        for keeping in [SimulatedDisk.PowerLoss.nothingUnsynced, .everything] {
            let survivor = disk.afterPowerLoss(seed: 1, keeping: keeping)
            #expect(try survivor.content(of: "/d/a") == [1, 2, 3, 4], "\(keeping)")
        }
        try file.write([8], at: 0)
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .everything).content(of: "/d/a") == [8, 9, 9, 9])
        try file.sync()
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try survivor.content(of: "/d/a") == [8, 9, 9, 9], "writing the sector again writes all of it")
    }

    @Test("What a cut took does not come back when the sync of the cut was lost and a later one was not")
    func losingCut() throws {
        disk.setContent([UInt8](repeating: 1, count: 2_048), of: "/d/a")
        let file = try disk.open("/d/a", .write)
        try file.truncate(to: 512)
        disk.fail(.syncData, at: 1, with: .syncLoses)
        #expect(thrownCode { try file.sync() } == .inputOutput)
        try file.sync()
        try file.truncate(to: 2_048)
        try file.sync()
        let content = try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/d/a")
        #expect(content == [UInt8](repeating: 1, count: 512) + [UInt8](repeating: 0, count: 1_536))
    }

    @Test("A full disk takes what fits, then has no space, and has some again after a removal")
    func capacity() throws {
        disk.capacityBytes = 1_000
        let file = try disk.open("/d/b", .create)
        #expect(thrownCode { try file.write([UInt8](repeating: 1, count: 2_000), at: 0) } == .noSpace)
        #expect(try file.size() == 996)
        try file.write([2], at: 0)
        #expect(thrownCode { try file.allocate(0..<997) } == .noSpace)
        #expect(thrownCode { try file.truncate(to: 997) } == .noSpace)
        #expect(disk.usedBytes == 1_000)
        try disk.remove("/d/a")
        try file.allocate(0..<1_000)
        try disk.remove("/d/b")
        #expect(disk.usedBytes == 1_000, "a removed file takes room as long as it is open")
        file.close()
        #expect(disk.usedBytes == 0)
    }

    @Test("A read-only medium can be read, and refuses everything else, in open files too")
    func readOnlyMedium() throws {
        let file = try disk.open("/d/a", .write)
        disk.isReadOnly = true
        #expect(try disk.open("/d/a", .read).read(count: 4, at: 0) == [1, 2, 3, 4])
        for call: () throws -> Void in [
            { _ = try disk.open("/d/a", .write) }, { _ = try disk.open("/d/a", .writeOrCreate) },
            { _ = try disk.open("/d/b", .create) }, { try disk.rename("/d/a", to: "/d/b") },
            { try disk.remove("/d/a") }, { try disk.makeDirectory("/d/sub") }, { try file.write([1], at: 0) },
            { try file.truncate(to: 0) }, { try file.allocate(0..<9) },
        ] { #expect(thrownCode(call) == .readOnlyMedium) }
        #expect(try disk.content(of: "/d/a") == [1, 2, 3, 4])
    }

    @Test("A denied directory denies what is below it, and nothing beside it")
    func deniedPaths() throws {
        disk.setContent([1], of: "/dd/a")
        disk.deny("/d")
        #expect(thrownCode { _ = try disk.open("/d/a", .read) } == .permissionDenied)
        #expect(thrownCode { _ = try disk.list("/d") } == .permissionDenied)
        #expect(thrownCode { _ = try disk.exists("/d/a") } == .permissionDenied)
        #expect(thrownCode { try disk.rename("/dd/a", to: "/d/b") } == .permissionDenied)
        #expect(try disk.open("/dd/a", .read).size() == 1)
        disk.allow("/d")
        #expect(try disk.open("/d/a", .read).size() == 4)
    }
}
