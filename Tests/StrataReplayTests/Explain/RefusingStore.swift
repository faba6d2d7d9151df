import StrataModel
import StrataReplay
import StrataRules
import StrataStore
import StrataSystem
import TestSupport
import Testing

/// A store that keeps refusals, with times that are the same in every run.
final class RefusingStore {
    static let notes = ZoneID("Notes")
    static let (phone, tablet) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
    static let bert = Actor(user: "bert", device: "mac")

    let store: Store
    private let time = ManualTime(microseconds: 1_795_240_000_000_000)

    /// In memory, or at a path. Refusals wait for the next commit.
    init(_ options: StoreOptions = .service, at path: String? = nil) throws {
        var options = options
        options.recordsRefusals = true
        let platform = Platform(time: time, random: SeededRandom(seed: 1))
        store =
            try path.map { try Store.open(at: $0, options: options, platform: platform) }
            ?? Store.inMemory(options: options, platform: platform)
        try modify(.zones(saving: [Self.notes]))
    }

    deinit { try? store.close() }

    @discardableResult
    func modify(_ request: Request, as actor: Actor = phone) throws -> Answer {
        time.advance(byMicroseconds: 1_000_000)
        return try store.modify(request, as: actor)
    }

    func id(_ name: String, in zone: ZoneID = notes) -> RecordID { RecordID(name, zone: zone) }

    /// Saves one record and returns its version.
    @discardableResult
    func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?> = [:], base: Version? = nil,
        parent: RequestBuilder.LinkedName = .kept, in zone: ZoneID = notes,
        policy: SavePolicy = .ifServerRecordUnchanged,
        as actor: Actor = phone
    ) throws -> Version {
        var builder = RequestBuilder(DatabaseID(.private), policy: policy)
        builder.save(id(name, in: zone), type: "Note", base: base, parent: parent, fields: fields)
        return try #require(try modify(builder.request, as: actor).result.saves.first).get()
    }

    func delete(_ name: String) throws {
        var builder = RequestBuilder(DatabaseID(.private))
        builder.delete(id(name))
        try modify(builder.request)
    }

    /// The state on which the last request to explain was judged.
    private(set) var askedOn: UInt64 = 0

    /// Asks what is refused, has the audit written, and explains it.
    func explainRefusal(of request: Request, as actor: Actor = phone) throws -> Explanation {
        askedOn = store.offset
        do { try modify(request, as: actor) } catch is Refusal {}
        try flush()
        return try Explanation.of(try lastAudit(), in: store)
    }

    /// Has what waits be written behind a commit.
    func flush() throws { try store.noteConsole(ConsoleNote("something that is written")) }

    private func lastAudit() throws -> UInt64 {
        var offset = store.offset
        while let commit = try store.log.commit(at: offset) {
            let events = try Envelope(decoding: commit.payload).events
            if events.contains(where: { [.requestRefused, .nothingToDelete].contains($0.kind) }) { return offset }
            offset -= 1
        }
        throw StrataError(.notFound, "Nothing was refused.")
    }
}
