import Glibc
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Tests that compaction, which frees space, works without free space.
@Suite("Compaction on a full disk", .timeLimit(.minutes(2)))
struct FullDiskCompactionTests {
    private let disk = SimulatedDisk()
    private let digests: Digests
    private let end: UInt64

    init() throws {
        // Keep no reference to the store, so that removing its runs frees the space.
        let notes = try CompactedNotes(disk)
        try notes.fill(30)
        (digests, end) = (try notes.digests, notes.store.offset)
        try notes.store.close()
    }

    private func open() throws -> Store {
        try CompactedNotes.open(disk, .service, ManualTime(microseconds: 1_800_000_000_000_000))
    }

    private func compactWithoutRoom(before offset: UInt64) throws -> Compaction {
        try Store.compactWithoutRoom(at: CompactedNotes.path, before: offset, platform: Platform(files: disk))
    }

    @Test("With no room for files without names, the state is folded in memory")
    func withoutScratch() throws {
        let store = try open()
        disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "compaction.")
        let done = try store.compact(before: end / 2)
        #expect(done.segmentCount > 2 && done.baseBytes > 0)
        #expect(try store.snapshot().digests() == digests)
        try store.close()
    }

    @Test("With no room at all, the views go, and are made again")
    func withoutRoom() throws {
        disk.capacityBytes = disk.usedBytes
        do {
            let failing = try open()
            #expect(thrownCode { try failing.compact(before: end / 2) } == .noSpace)
            try? failing.close()
        }
        let used = disk.usedBytes
        let done = try compactWithoutRoom(before: end / 2)
        #expect(done.segmentCount > 2 && disk.usedBytes < used && done.horizon == end / 2 - 1)
        let store = try open()
        #expect(try store.snapshot().digests() == digests && store.offset == end)
        #expect(store.opening?.views == .missing)
        try store.close()
    }

    @Test("A store that is open, or an offset that cannot be, is refused, and nothing goes")
    func refusals() throws {
        let store = try open()
        #expect(thrownCode { _ = try compactWithoutRoom(before: 5) } == .locked)
        try store.close()
        // No file lies before the last of these offsets.
        for offset in [0, 1, end + 2, 3] {
            #expect(thrownCode { _ = try compactWithoutRoom(before: offset) } == .invalidArgument)
        }
        #expect(try disk.exists(CompactedNotes.path + "/views"))
    }
}
