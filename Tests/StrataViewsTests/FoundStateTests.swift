import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// States that a judge has found and hands to the fold.
@Suite("States that the fold need not search for")
struct FoundStateTests {
    /// Looks up the records of a commit together, as a judge does, and hands over what there is before each event.
    private func found(_ commit: SampleCommit, in fold: Fold, _ random: inout SeededGenerator) throws -> FoundStates {
        var (keys, events): ([RecordKey], [UInt32]) = ([], [])
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            _ = try walker.header()
            var index: UInt32 = 0
            while let event = try walker.next() {
                defer { index += 1 }
                // Of some nothing is known, and then of their later events nothing may be said either.
                guard let record = try RecordEvent(event.kind, event.body, of: payload), random.next(below: 4) > 0,
                    try !keys.contains(record.key)
                else { continue }
                keys.append(try record.key)
                events.append(index)
            }
        }
        var found = FoundStates()
        try fold.withEach(keys) { found.append($1.map { [UInt8]($0) }, before: events[$0]) }
        return found
    }

    /// True for a commit in which a zone begins or ends: what its records were before does not hold inside it.
    private func changesZones(_ commit: SampleCommit) throws -> Bool {
        try Envelope(decoding: commit.payload[...]).events.contains { [.zoneSaved, .zoneDeleted].contains($0.kind) }
    }

    @Test("With what was found in the same fork, the trees are those of a fold that searches")
    func model() throws {
        try withSeeds(8) { seed in
            let commits = try SampleCommit.all(150, seed: seed)
            let (plain, told) = (try PageStore.inMemory(), try PageStore.inMemory())
            try plain.fold(commits)
            var random = SeededGenerator(seed: seed &+ 5)
            var fold = Fold(told.fork())
            for commit in commits {
                // Earlier commits of the same fork may still be gathered.
                let found = try changesZones(commit) ? FoundStates() : found(commit, in: fold, &random)
                try commit.payload.withUnsafeBytes {
                    try fold.apply($0, offset: commit.offset, time: commit.time, found: found)
                }
                if random.next(below: 5) == 0 {
                    try fold.publish(to: told)
                    if random.next(below: 2) == 0 { fold = Fold(told.fork()) }
                }
            }
            try fold.publish(to: told)
            #expect(try ViewDump(told.snapshot()) == ViewDump(plain.snapshot()))
            #expect(try told.snapshot().digests() == plain.snapshot().digests())
        }
    }

    @Test("What was found is believed: an update of a record that is said not to exist is an error")
    func belief() throws {
        var history = NoteHistory(seed: 1)
        let commits = try history.manyNotes(1, perCommit: 1)
        let pages = try PageStore.inMemory()
        try pages.fold(commits)
        let name = try #require(try pages.snapshot().firstRecordName())
        var event = RecordSavedEvent(
            .update, RecordKey(zone: 1, name: name), type: 1, previous: Version(offset: 2, eventIndex: 0))
        event.fields = [FieldChange(1, .string("new"))]
        let payload = Envelope(header: EnvelopeHeader(user: 1), events: [try event.event()]).encoded()
        func fold(_ found: FoundStates) throws {
            let fold = Fold(pages.fork())
            try payload.withUnsafeBytes { try fold.apply($0, offset: 3, time: 0, found: found) }
            try fold.flush()
        }
        try fold(FoundStates())
        var absent = FoundStates()
        absent.append(nil, before: 0)
        #expect(throws: StrataError.self) { try fold(absent) }
        var other = FoundStates()
        other.append(nil, before: 1)
        try fold(other)
    }
}

extension Snapshot {
    fileprivate func firstRecordName() throws -> String? {
        var name: String?
        try scan(ViewTree.records) { key, _ in
            var reader = KeyReader(key)
            _ = try reader.readNumber()
            name = try PackedName.withName(of: try reader.readLastText()) { String(decoding: $0, as: UTF8.self) }
            return false
        }
        return name
    }
}
