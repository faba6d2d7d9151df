import Foundation
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// A store in a directory of its own that requests have filled, with times that are the same in every run.
///
/// Commit 1 makes zones, 2 saves notes of anna's phone, 3 news of bert's in public, 4 an update of anna's tablet, 5 a
/// deletion.
final class StateFixture {
    static let startTime: Int64 = 1_795_240_000_000_000
    static let (notes, work) = (ZoneID("Notes"), ZoneID("Work"))
    static let (phone, tablet) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
    static let bert = Actor(user: "bert", device: "mac")
    static let end: UInt64 = 5

    let directory: TestDirectory
    let name = "Notes.strata"
    let time = ManualTime(microseconds: startTime)
    private let platform: Platform
    private let options: StoreOptions

    var path: String { directory.path(name) }

    /// - Parameter keepsAudits: whether refusals and fetches are noted.
    init(segmentBytes: Int = 64 << 20, keepsAudits: Bool = false) throws {
        directory = try TestDirectory()
        platform = Platform(time: time, random: SeededRandom(seed: 1))
        var options = StoreOptions.service
        options.segmentBytes = segmentBytes
        (options.recordsRefusals, options.recordsFetches) = (keepsAudits, keepsAudits)
        // What is noted comes with the next commit or the end, however slow the machine is.
        options.auditDelayMilliseconds = 600_000
        self.options = options
        try change { store in
            try step { try store.modify(.zones(saving: [Self.notes, Self.work]), as: Self.phone) }
            let photo = try photo(in: store)
            try step { try store.modify(try firstNotes(store, photo.value), as: Self.phone) }
            // Until a commit names it, nobody else holds on to the file.
            withExtendedLifetime(photo) {}
            var news = RequestBuilder(DatabaseID(.public), policy: .allKeys)
            news.save(RecordID("news", zone: ZoneID("_defaultZone")), type: "Item", fields: ["title": .string("News")])
            try step { try store.modify(news.request, as: Self.bert) }
            try save("milk", ["rank": .int64(3)], as: Self.tablet, to: store)
            var gone = RequestBuilder(DatabaseID(.private))
            gone.delete(RecordID("gone", zone: Self.notes))
            try step { try store.modify(gone.request, as: Self.phone) }
            #expect(store.offset == Self.end)
        }
    }

    private func photo(in store: Store) throws -> PinnedAsset {
        let file = directory.path("photo")
        try Data("abc".utf8).write(to: URL(fileURLWithPath: file))
        return try store.importAsset(at: file)
    }

    private func firstNotes(_ store: Store, _ photo: FieldValue.Asset) throws -> Request {
        let milk = RecordID("milk", zone: Self.notes)
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        let list = request.reference(to: RecordID("list", zone: Self.notes), action: .deleteSelf)
        let place = FieldValue.Location(
            latitude: 48.1, longitude: 11.5, altitude: 520, horizontalAccuracy: 5, verticalAccuracy: 3, course: 90,
            speed: 1.5, timestamp: 0)
        request.save(RecordID("list", zone: Self.notes), type: "List")
        request.save(
            milk, type: "Note", parent: .set("list"),
            fields: [
                "bytes": .data([1, 2, 3]), "due": .date(0), "list": list, "photo": .asset(photo),
                "pin": try store.seal(.string("1234"), for: "pin", of: milk, in: DatabaseID(.private), as: Self.phone),
                "place": .location(place), "price": .double(0.5), "rank": .int64(2),
                "tags": .list(try FieldList([.string("a"), .string("b")])), "title": .string("Buy \"milk\"\u{1b}[31m"),
            ])
        request.save(RecordID("gone", zone: Self.notes), type: "Note", fields: ["rank": .int64(1)])
        return request.request
    }

    // MARK: Changing it

    /// Opens it for writing, and closes it again.
    @discardableResult
    func change<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let store = try open()
        defer { try? store.close() }
        return try body(store)
    }

    func open() throws -> Store { try Store.open(at: path, options: options, platform: platform) }

    /// A second later.
    func step(_ body: () throws -> Void) throws {
        time.advance(byMicroseconds: 1_000_000)
        try body()
    }

    /// One commit that saves a record, or changes its keys.
    func save(
        _ record: String, _ fields: KeyValuePairs<String, FieldValue?> = [:], type: String = "Note",
        zone: ZoneID = notes, as actor: Actor = phone, to store: Store
    ) throws {
        var request = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
        request.save(RecordID(record, zone: zone), type: type, fields: fields)
        try step { try store.modify(request.request, as: actor) }
    }

    /// Records of which each takes so many bytes, one commit for each.
    func saveMany(_ count: Int, bytes: Int, to store: Store) throws {
        var generator = SeededGenerator(seed: 3)
        for number in 0..<count {
            try save("many-\(number)", ["data": .data(generator.nextBytes(bytes))], type: "Many", to: store)
        }
    }

    /// Makes the log unreadable from a commit on.
    func damage(_ offset: UInt64) throws {
        let found = try LogReader.open(at: path).place(of: offset)
        let place = try #require(found)
        let file = try RealFileSystem().open(place.path, .write)
        defer { file.close() }
        let position = place.range.upperBound - 1 - place.range.count / 4
        let byte = try file.read(count: 1, at: position)
        try file.write([byte[0] ^ 0x10], at: position)
    }

    /// Every file with its bytes, but the folder of pipes of those who wait.
    func content() throws -> [String: [UInt8]] { try Self.content(path) }

    static func content(_ path: String) throws -> [String: [UInt8]] {
        let files = RealFileSystem()
        var content: [String: [UInt8]] = [:]
        for folder in [path, path + "/log", path + "/views"] where try files.exists(folder) {
            for name in try files.list(folder) {
                guard let bytes = try? files.readAll("\(folder)/\(name)", atMost: 1 << 30) else { continue }
                content["\(folder)/\(name)"] = bytes
            }
        }
        return content
    }

    // MARK: The tool

    func run(_ words: String...) throws -> ToolResult { try run(words) }

    func run(_ words: [String]) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// Whatever `--json` printed.
    func objects(_ words: String...) throws -> [[String: Any]] { try objects(words) }

    func objects(_ words: [String]) throws -> [[String: Any]] {
        let result = try run(words + ["--json"])
        return try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// The change tag that a record has now.
    func tag(of record: String, zone: ZoneID = notes) throws -> String {
        try change { store in
            let id = RecordID(record, zone: zone)
            return try store.snapshot().record(id, in: DatabaseID(.private), as: Self.phone).version.tag
        }
    }
}
