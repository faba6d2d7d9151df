import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store on a sequencer that was trimmed", .timeLimit(.minutes(2)))
struct TrimmedStoreTests {
    private let shared = SharedFiles()

    private func feed(_ store: Store, since token: FeedToken?) throws -> ZoneFeedPage {
        try store.zoneChanges(
            of: NoteRequest.zone, in: NoteRequest.database, since: token, limit: 0, as: AssetFixture.anna)
    }

    /// The names that a feed reports, or the refusal.
    private func names(_ store: Store, since token: FeedToken?) throws -> [String] {
        do { return try feed(store, since: token).changed.map(\.id.name).sorted() } catch let refusal as Refusal {
            return ["\(refusal.code)"]
        }
    }

    private func save(_ name: String, _ title: String, in store: Store) throws {
        _ = try store.modify(NoteRequest.saving([name], [("title", .string(title))]), as: AssetFixture.anna)
    }

    /// Fills a store with notes, an asset and an encrypted value; returns the offset before which it is trimmed, and
    /// tokens from before and after it.
    private func fill(_ store: Store) throws -> (offset: UInt64, early: FeedToken?, late: FeedToken?) {
        for number in 0..<10 { try save("note\(number % 4)", "early \(number)", in: store) }
        try shared.save("picture", 1, in: store)
        try shared.save("card", shared.seal("1234", for: "card", in: store), in: store)
        let early = try feed(store, since: nil).token
        for number in 0..<5 { try save("later\(number)", "x", in: store) }
        let offset = store.offset
        let late = try feed(store, since: nil).token
        for number in 0..<3 { try save("note\(number)", "late", in: store) }
        return (offset, early, late)
    }

    @Test("A new copy has the state, the assets and the values, and serves what a compacted store serves")
    func newCopy() throws {
        var stores = try shared.open(2)
        let (offset, early, late) = try fill(stores[0])
        // The second copy notes that it has read everything.
        try stores[1].confirm()
        try stores[1].close()
        stores[1] = try shared.open("1")
        let trimmed = try stores[0].trimSequencer(before: offset)
        #expect(trimmed.horizon.offset == offset - 1 && trimmed.baseBytes > 0)
        #expect(stores[0].log.floor == .start)
        let new = try shared.open("new")
        #expect(new.storeID == stores[0].storeID && new.log.floor == trimmed.horizon)
        try #expect(new.snapshot().digests() == stores[0].snapshot().digests())
        #expect(try shared.bytes(of: "picture", in: new) == AssetFixture.bytes(1))
        #expect(try shared.opened("card", in: new) == .string("1234"))
        // A copy that is compacted to the same horizon is the measure.
        _ = try stores[1].compact(before: offset)
        for token in [nil, early, late] {
            let served = try names(new, since: token)
            #expect(try served == names(stores[1], since: token))
            #expect(try token == early || served == names(stores[0], since: token))
        }
        #expect(try names(new, since: early) == ["\(Refusal.Code.changeTokenExpired)"])
        #expect(try names(stores[0], since: early).count == 8)
        #expect(throws: StrataError.self) { _ = try new.asOf(offset - 2) }
        // All write on, and are opened again.
        for (number, store) in ([new] + stores).enumerated() { try save("last\(number)", "x", in: store) }
        for store in [new] + stores { try store.confirm() }
        let digests = try new.snapshot().digests()
        for store in stores { try #expect(store.snapshot().digests() == digests) }
        try new.close()
        let again = try shared.open("new")
        try #expect(again.snapshot().digests() == digests)
        for store in [again] + stores { try store.close() }
        let report = try DeepVerifier.verify(at: "/new.strata", platform: shared.platform)
        #expect(report.isWhole)
    }

    @Test("The sequencer is trimmed to the state at an earlier offset, again and again, by the newest copy")
    func repeated() throws {
        var store = try shared.open(1)[0]
        for round in 0..<4 {
            for number in 0..<6 { try save("note\(number)", "round \(round)", in: store) }
            let trimmed = try store.trimSequencer(before: store.offset - 2, ignoresCopies: round > 0)
            #expect(trimmed.horizon.offset == store.offset - 3)
            let digests = try store.snapshot().digests()
            try store.close()
            store = try shared.open("copy\(round)")
            #expect(store.log.floor == trimmed.horizon)
            try #expect(store.snapshot().digests() == digests)
            #expect(try shared.disk.list(SharedFiles.directory + "/bases").count == 2)
        }
        try store.close()
    }

    @Test("A store that cannot be trimmed says why, and nothing changes")
    func refusals() throws {
        let stores = try shared.open(2)
        _ = try fill(stores[0])
        let entry = stores[0].replication?.entry
        // The second process has not noted that it has read anything since.
        #expect(thrownCode { _ = try stores[0].trimSequencer(before: 5) } == .invalidArgument)
        #expect(thrownCode { _ = try stores[0].trimSequencer(before: 1_000) } == .invalidArgument)
        #expect(stores[0].replication?.entry == entry)
        _ = try stores[0].trimSequencer(before: 5, ignoresCopies: true)
        let alone = try Store.open(at: "/alone.strata", options: .service, platform: shared.platform)
        #expect(thrownCode { _ = try alone.trimSequencer(before: 1) } == .invalidArgument)
        let blind = LogPlace(address: "other") { [shared] _ in MemorySequencer(shared.sequence) }
        #expect(thrownCode { _ = try shared.open("blind", blind) } == .outOfRange)
        for store in stores + [alone] { try store.close() }
    }
}
