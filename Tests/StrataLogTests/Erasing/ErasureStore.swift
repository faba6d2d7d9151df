import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// A tiny store of which some commits hold records that are to be erased, each with bytes that stand nowhere else.
struct ErasureStore {
    static let secretBytes = 40
    /// Others are in zones 1 to 3.
    private static let zone: UInt64 = 9

    let store: TinyStore
    let commits: [Commit]
    private(set) var secrets: [[UInt8]] = []
    /// Of records with the same names, which are to stay.
    private(set) var kept: [[UInt8]] = []

    static func eraser(_ names: String...) -> RecordEraser {
        let database = DatabaseID(.private, owner: "anna")
        return RecordEraser(
            names.map {
                .init(
                    RecordKey(zone: zone, name: $0), zone: "Z", in: database, ownerOrdinal: 1,
                    through: UInt64.max)
            })
    }

    init(_ disk: SimulatedDisk = SimulatedDisk(), seed: UInt64 = 1, count: Int = 90, bytes: Int = 900) throws {
        store = TinyStore(disk, seed: seed)
        var sample = SamplePayload(seed: seed, zones: [1, 2, 3], noise: 0.9)
        var sequence = CommitSequence(seed: seed)
        var generator = SeededGenerator(seed: seed &+ 5)
        var made: [NewCommit] = []
        for index in 0..<count {
            var envelope = sample.nextEnvelope(events: 3, bytesPerEvent: bytes)
            if index % 4 == 0 {
                let (secret, other) = (generator.nextBytes(Self.secretBytes), generator.nextBytes(Self.secretBytes))
                secrets.append(secret)
                kept.append(other)
                let name = index % 8 == 0 ? "first" : "second"
                envelope.events[1] = try Self.save(name, Self.zone, secret)
                envelope.events.append(try Self.save(name, 1, other))
            }
            made.append(sequence.next(envelope.encoded()))
        }
        commits = expectedCommits(made)
        let log = try store.open()
        for commit in made { _ = try log.append([commit], expecting: log.end) }
        try log.close()
    }

    private static func save(_ name: String, _ zone: UInt64, _ bytes: [UInt8]) throws -> Event {
        try RecordSavedEvent(
            .create, RecordKey(zone: zone, name: name), type: 1, parent: .set(RecordKey(zone: zone, name: "p")),
            fields: [FieldChange(7, .data(bytes))]
        ).event()
    }

    /// The commits as they are once some records are erased.
    func commits(erasedBy eraser: RecordEraser) throws -> [Commit] {
        try commits.map { commit in
            var commit = commit
            if let payload = try eraser.erased(commit.payload, at: commit.offset) { commit.payload = payload[...] }
            return commit
        }
    }

    /// How many of some byte strings stand in any file of a store.
    static func found(_ wanted: [[UInt8]], on disk: SimulatedDisk) throws -> Int {
        let files = try disk.paths.map { try disk.content(of: $0) }
        return wanted.count { wanted in files.contains { isFound(wanted, in: $0) } }
    }
}
