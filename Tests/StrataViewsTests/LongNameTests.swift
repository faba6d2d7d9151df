import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Names that do not fit a key")
struct LongNameTests {
    /// At the limit of a whole name and behind it, and such that all of a name must be escaped.
    private static let names: [String] = {
        var names = [String(repeating: "a", count: 400) + "b", String(repeating: "a", count: 400) + "c"]
        for text in ["a", "\u{0}", "\u{1}", "\u{1F9F6}"] {
            let (last, most) = (300 / text.utf8.count, 4_096 / text.utf8.count)
            for count in [255, 285, last, last + 1, most] {
                let name = String(repeating: text, count: count)
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }()

    private static func key(_ name: String) -> RecordKey { RecordKey(zone: 1, name: name) }

    /// Every record refers to every other, in a zone, of a type and a field with long names.
    private func store() throws -> PageStore {
        let long = String(repeating: "\u{1F9F6}", count: 1_024)
        let interned: [InternedName.Name] = [
            .user(long), .device(user: 1, long), .database(.private, owner: 1),
            .zone(database: 1, owner: 1, long), .recordType(long), .field(long),
        ]
        var events = interned.map { InternedName(ordinal: 1, name: $0).event }
        events.append(InternedName(ordinal: 2, name: .field(long.dropLast() + "x")).event)
        events.append(try ZoneSavedEvent(zone: 1, database: 1).event())
        events.append(try SubscriptionSavedEvent(database: 1, user: 1, Subscription(long, .database)).event())
        let references = Self.names.map { FieldValue.reference(FieldValue.Reference(Self.key($0))) }
        let list = try FieldValue.list(FieldList(references))
        for name in Self.names {
            var event = RecordSavedEvent(.create, Self.key(name), type: 1)
            event.parent = .set(Self.key(name))
            event.fields = [FieldChange(1, list), FieldChange(2, .string(name))]
            events.append(try event.event())
        }
        let pages = try PageStore.inMemory()
        try pages.fold([
            SampleCommit(offset: 1, time: 1, payload: Envelope(header: .init(user: 1), events: events).encoded())
        ])
        return pages
    }

    @Test("Records and what refers to them are found, and say their names")
    func records() throws {
        let snapshot = try store().snapshot()
        var found: [String] = []
        try snapshot.forEachRecord(of: 1) { name, _ in
            found.append(String(decoding: name, as: UTF8.self))
            return true
        }
        #expect(Self.names.count == found.count && Set(Self.names) == Set(found))
        for name in Self.names {
            #expect(try snapshot.withRecord(Self.key(name)) { _ in true } == true)
            #expect(try snapshot.withRecord(Self.key(name + "-")) { _ in true } == nil)
            var sources: Set<String> = []
            try snapshot.forEachSource(of: Self.key(name), .other) { source in
                sources.insert(String(decoding: source, as: UTF8.self))
                return true
            }
            #expect(sources == Set(Self.names))
        }
        #expect(try snapshot.ordinal(of: .user(String(repeating: "\u{1F9F6}", count: 1_024))) == 1)
        #expect(try snapshot.ordinal(of: .user(String(repeating: "\u{1F9F6}", count: 1_023))) == nil)
    }

    @Test("A scan of a zone goes on behind any name")
    func resuming() throws {
        let snapshot = try store().snapshot()
        var whole: [[UInt8]] = []
        try snapshot.forEachRecord(of: 1) { name, _ in
            whole.append([UInt8](name))
            return true
        }
        for (index, name) in whole.enumerated() {
            var rest: [[UInt8]] = []
            try snapshot.forEachRecord(of: 1, from: String(decoding: name, as: UTF8.self)) { name, _ in
                rest.append([UInt8](name))
                return true
            }
            #expect(rest == Array(whole[index...]))
        }
    }

    @Test("Indexes have a row for each record and value")
    func indexes() throws {
        let pages = try store()
        let fork = pages.fork()
        for subject in [IndexID.Subject.membership, .parent, .field(1), .field(2)] {
            try IndexCatalog.put(IndexID(type: 1, subject), .building(upTo: []), in: fork)
        }
        try pages.publish(fork)
        try IndexBuild.finish(in: pages)
        let count = UInt64(Self.names.count)
        // Values are cut, and what begins alike is one row of a record.
        let starts = UInt64(Set(Self.names.map { Array($0.utf8.prefix(IndexKey.maximumTextBytes)) }).count)
        #expect(pages.snapshot().entryCount(ViewTree.index) == 3 * count + starts * count)
    }

    @Test("A record whose name has another's short form is refused, and not taken for it")
    func collision() throws {
        let (name, other) = (String(repeating: "n", count: 400), String(repeating: "m", count: 400))
        let pages = try store()
        let fork = pages.fork()
        let header = RecordHeader(
            version: Version(offset: 1, eventIndex: 1), type: 1, created: 1, createdBy: 1, modified: 1, modifiedBy: 1)
        var state = ByteWriter()
        try RecordState(header: header, longName: other).encode(into: &state)
        try ViewKeys.record(Self.key(name)).withUnsafeBytes { key in
            try state.bytes.withUnsafeBytes { try fork.put(ViewTree.records, key, $0) }
        }
        #expect(thrownError { _ = try fork.withRecord(Self.key(name)) { _ in true } }?.code == .malformed)
        let deletion = try RecordDeletedEvent(Self.key(name), type: 1, previous: header.version).event()
        let error = thrownError {
            let fold = Fold(fork)
            try fold.apply(SampleCommit(offset: 2, time: 2, payload: Envelope(events: [deletion]).encoded()))
            try fold.flush()
        }
        #expect(error?.code == .malformed)
    }
}
