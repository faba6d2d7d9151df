import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// A tiny store of which all closed segments are sealed, with what was appended to it.
struct SealedStore {
    let store: TinyStore
    let commits: [Commit]

    /// - Parameter sizes: of the payloads' events, which are repeated until enough is written.
    init(
        seed: UInt64 = 1, count: Int = 120, bytesPerEvent: [Int] = [60, 700, 2_000], zones: [UInt64] = [1, 2, 3],
        noise: Double = 0.9
    ) throws {
        store = TinyStore(seed: seed)
        var sequence = CommitSequence(seed: seed, zones: zones, noise: noise)
        var made: [NewCommit] = []
        for index in 0..<count {
            made.append(
                sequence.next(events: 1 + index % 4, bytesPerEvent: bytesPerEvent[index % bytesPerEvent.count]))
        }
        commits = expectedCommits(made)
        let log = try store.open()
        for commit in made { _ = try log.append([commit], expecting: log.end) }
        while try log.sealNext(lookup: Self.lookup) {}
        try log.close()
    }

    /// One whose sealed segment has a few commits only: the one behind them has room in no segment but its own.
    static func small() throws -> SealedStore {
        try SealedStore(seed: 2, count: 16, bytesPerEvent: Array(repeating: 40, count: 15) + [30_000])
    }

    /// Names that nobody interned, as a store would look them up.
    static let lookup: NameLookup = { key in
        switch key.namespace {
        case .user: InternedName(ordinal: key.ordinal, name: .user("user-\(key.ordinal)"))
        case .device: InternedName(ordinal: key.ordinal, name: .device(user: 1, "device-\(key.ordinal)"))
        case .database: InternedName(ordinal: key.ordinal, name: .database(.private, owner: 1))
        case .zone: InternedName(ordinal: key.ordinal, name: .zone(database: 1, owner: 1, "zone-\(key.ordinal)"))
        case .recordType: InternedName(ordinal: key.ordinal, name: .recordType("Type\(key.ordinal)"))
        case .field: nil
        }
    }

    var sealedPaths: [String] { Array(store.segments.dropLast()) }

    /// The touches of a zone by looking at every payload.
    func touches(of zone: UInt64, after offset: UInt64) throws -> [ZoneTouch] {
        var found: [ZoneTouch] = []
        for commit in commits where commit.offset > offset {
            try commit.payload.withUnsafeBytes { payload in
                for touch in try Envelope.touches(of: payload) where touch.zone == zone {
                    found.append(
                        ZoneTouch(
                            offset: commit.offset, eventIndex: touch.eventIndex, kind: touch.kind, type: touch.type,
                            key: [UInt8](payload[touch.key])))
                }
            }
        }
        return found
    }

    /// Reads all that there is to read of a copy, through every door; throws at the first thing that is wrong.
    static func readAll(_ store: TinyStore, expecting commits: [Commit], zones: [UInt64] = [1, 2, 3]) throws {
        let reader = try store.reader()
        var cursor = try reader.read(from: 1)
        for expected in commits { try check(try cursor.next() == expected, "commit \(expected.offset) is another") }
        try check(try cursor.next() == nil, "there are more commits")
        for zone in zones { _ = try reader.touches(zone: zone, after: 0, limit: Int.max) }
        for segment in try reader.sealedSegments { try segment.requireWhole() }
    }

    /// The same of one sealed segment, without a log around it.
    static func readSegment(_ path: String, on disk: SimulatedDisk, expecting commits: [Commit]) throws {
        let file = try disk.open(path, .read)
        let header = try SegmentHeader.read(file)
        let seal = try SealedSegment.readSeal(file, header)
        let segment = try SealedSegment(
            SegmentFile(path: path, header: header, seal: seal), file, BlockCache())
        var cursor = try SealedSegment.Cursor(segment, from: header.firstOffset)
        for expected in commits { try check(try cursor.next() == expected, "commit \(expected.offset) is another") }
        try check(try cursor.next() == nil, "there are more commits")
        try segment.requireWhole()
    }
}

extension LogReader {
    /// The segments that have been sealed, opened if necessary.
    var sealedSegments: [SealedSegment] {
        get throws { try catalog.read { $0.segments }.compactMap { try catalog.sealed($0) } }
    }
}
