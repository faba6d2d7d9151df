import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// A store on a simulated disk with some history: each note is saved again and again, and some are deleted.
struct CompactedNotes {
    static let path = "/Old.strata"
    static let anna = Actor(user: "anna", device: "phone")

    let disk: SimulatedDisk
    let time = ManualTime(microseconds: 1_700_000_000_000_000)
    var options: StoreOptions
    private(set) var store: Store

    init(_ disk: SimulatedDisk = SimulatedDisk(), history: HistoryPolicy = .everything) throws {
        self.disk = disk
        options = StoreOptions.service
        options.segmentBytes = 64 << 10
        options.history = history
        store = try Self.open(disk, options, time)
    }

    static func open(_ disk: SimulatedDisk, _ options: StoreOptions, _ time: ManualTime) throws -> Store {
        try Store.open(at: path, options: options, platform: Platform(files: disk, time: time))
    }

    /// Opens it again, without views if asked to.
    mutating func reopen(removingViews: Bool = false) throws {
        try store.close()
        if removingViews { try disk.removeFiles(in: Self.path + "/views") }
        store = try Self.open(disk, options, time)
    }

    @discardableResult
    func save(_ names: [String], _ text: String = "x", _ fields: [(String, FieldValue)] = []) throws -> Answer {
        time.advance(byMicroseconds: 1_000_000)
        let answer = try store.modify(
            NoteRequest.saving(names, [("title", .string(text))] + fields), as: Self.anna)
        for save in answer.result.saves { _ = try save.get() }
        return answer
    }

    /// Text that does not get smaller.
    static func noise(_ count: Int, seed: UInt64) -> String {
        var generator = SeededGenerator(seed: seed)
        return String(decoding: generator.nextBytes(count).map { 0x30 + $0 % 64 }, as: UTF8.self)
    }

    /// The zone, and so many rounds of saves of ten notes with one text of so many bytes; of each round one is deleted.
    func fill(_ rounds: Int, bytes: Int = 20_000) throws {
        if store.offset == 0 { _ = try store.modify(NoteRequest.makingZones(), as: Self.anna) }
        for round in 0..<rounds {
            let names = (0..<10).map { "note-\($0)" }
            try save(names, "\(round) " + Self.noise(bytes, seed: UInt64(round)))
            _ = try store.modify(NoteRequest.deleting(["note-\(round % 10)"]), as: Self.anna)
        }
    }

    func record(_ name: String) throws -> Record {
        try store.snapshot().record(NoteRequest.id(name), in: NoteRequest.database, as: Self.anna)
    }

    func record(_ name: String, at version: Version) throws -> Record? {
        try store.snapshot().record(NoteRequest.id(name), at: version, in: NoteRequest.database, as: Self.anna)
    }

    func page(since token: FeedToken?, limit: Int = 0) throws -> ZoneFeedPage {
        try store.zoneChanges(
            of: NoteRequest.zone, in: NoteRequest.database, since: token, limit: limit, as: Self.anna)
    }

    /// Returns once what an interrupted compaction left is done.
    static func awaitPruning(_ store: Store) {
        let horizon = store.log.floor.offset
        #expect(eventually { (try? AssetPruning.isDue(store.snapshot().trees, horizon: horizon)) == false })
    }

    var segments: [String] { disk.paths.filter { $0.hasSuffix(".seg") } }
    var bases: [String] { disk.paths.filter { $0.hasSuffix(".base") || $0.hasSuffix("base.new") } }
    var digests: Digests { get throws { try store.snapshot().digests() } }
}
