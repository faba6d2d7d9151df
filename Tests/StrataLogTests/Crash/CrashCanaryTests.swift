import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataLog

@Suite("Canary: the crash harness notices files that forget something")
struct CrashCanaryTests {
    /// Calls that seem to succeed and do nothing.
    static let forgotten: [(SimulatedDisk.CallKind, String)] = [
        (.syncData, ".seg"), (.syncData, "spare"), (.syncData, "STORE"), (.syncDirectory, "log"),
        (.syncDirectory, "strata"),
    ]

    @Test("A sync that does nothing is noticed, whichever it is", arguments: forgotten)
    func forgottenSync(kind: SimulatedDisk.CallKind, path: String) throws {
        let disk = SimulatedDisk()
        let files = InterceptedFiles(disk) { called, name in
            called != kind || !name.hasSuffix(path) && !name.contains(path + ".new")
        }
        let harness = FreezeHarness(CrashWorkload(.commit))
        #expect(throws: (any Error).self) { try harness.run(on: TinyStore(disk, files: files)) }
    }

    @Test("Half of the syncs are not enough")
    func everyOtherSync() throws {
        let disk = SimulatedDisk()
        let count = Atomic(0)
        let files = InterceptedFiles(disk) { kind, _ in
            kind != .syncData || count.add(1, ordering: .relaxed).newValue % 2 == 0
        }
        let harness = FreezeHarness(CrashWorkload(.commit))
        #expect(throws: (any Error).self) { try harness.run(on: TinyStore(disk, files: files)) }
    }

    @Test("Files that forget nothing pass")
    func nothingForgotten() throws {
        let disk = SimulatedDisk()
        let files = InterceptedFiles(disk) { _, _ in true }
        try FreezeHarness(CrashWorkload(.commit)).run(on: TinyStore(disk, files: files))
    }
}

@Suite("Canary: the checks of damaged logs notice what a careless reader would give")
struct DamageCanaryTests {
    private let all: [Commit]

    init() throws { all = try StoreForge.three().commits }

    @Test("A shorter log, an exchanged payload, and a chain that does not follow are different")
    func differences() throws {
        #expect(firstDifference(all, all) == nil && ReferenceChain.firstBreak(in: all) == nil)
        #expect(firstDifference(Array(all.dropLast()), all) != nil)
        for index in all.indices {
            var exchanged = all
            exchanged[index].payload = exchanged[index].payload.dropLast() + [0x55]
            #expect(firstDifference(exchanged, all) != nil)
            #expect(ReferenceChain.firstBreak(in: exchanged) == all[index].offset)
            var shorter = all
            shorter.remove(at: index)
            #expect(firstDifference(shorter, all) != nil)
            if index < all.count - 1 { #expect(ReferenceChain.firstBreak(in: shorter) != nil) }
        }
    }

    @Test("Without its checksum a flipped bit is caught by the chain alone")
    func chainAlone() throws {
        let store = try StoreForge.three().store
        let frames = SeenFrame.all(in: try store.disk.content(of: store.segment(6)))
        for frame in frames where frame.kind == 1 && frame.codec == 0 {
            let copy = store.copy()
            let byte = try copy.disk.content(of: copy.segment(6))[frame.position + 80]
            // Both checksums are made to fit, as a writer that garbles its own memory would.
            try copy.disk.patchFrame(copy.segment(6), frame, at: 80, with: [byte ^ 4])
            #expect(thrownError { _ = try copy.open() }?.code == .brokenChain)
            #expect(copy.verify().damage?.code == .brokenChain)
        }
    }
}
