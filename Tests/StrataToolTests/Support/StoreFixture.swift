import StrataLog
import StrataModel
import StrataSystem
import TestSupport

/// A store in a directory of its own whose content is the same every time: ids, times, names and notes.
///
/// The commit that interns names is the first; `saveNotes` appends one commit for each note.
final class StoreFixture {
    static let startTime: Int64 = 1_795_240_000_000_000

    let directory: TestDirectory
    let name = "Notes.strata"
    private let time: ManualTime
    private let platform: Platform
    private var log: SegmentedLog?
    private var noteCount = 0
    private var commitCount: UInt64 = 0
    private var generator = SeededGenerator(seed: 7)

    var path: String { directory.path(name) }

    init(segmentBytes: Int = 64 << 20, seed: UInt64 = 1) throws {
        directory = try TestDirectory()
        time = ManualTime(microseconds: Self.startTime)
        platform = Platform(time: time, random: SeededRandom(seed: seed))
        try open(segmentBytes: segmentBytes)
    }

    func open(segmentBytes: Int = 64 << 20) throws {
        log = try SegmentedLog.open(
            at: path,
            options: LogOptions(
                durability: .system, segmentBytes: segmentBytes, spaceStepBytes: 0, containerIdentifier: "iCloud.test"),
            platform: platform, touches: { (try? Envelope.touches(of: $0)) ?? [] })
    }

    func close() throws {
        try log?.close()
        log = nil
    }

    /// A store of names and three notes, closed.
    static func small(drawsSecret: Bool = false) throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.internNames(drawsSecret: drawsSecret)
        try fixture.saveNotes(3)
        try fixture.close()
        return fixture
    }

    /// A closed store of several segments of 64 KiB.
    static func segmented() throws -> StoreFixture {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(300, noise: 700)
        try fixture.close()
        return fixture
    }

    /// - Parameter drawsSecret: false for a store that was made before stores had a secret, and so has no tokens.
    func internNames(drawsSecret: Bool = false) throws {
        let names: [InternedName.Name] = [
            .user("anna"), .device(user: 1, "phone"), .database(.private, owner: 1),
            .zone(database: 1, owner: 1, "Notes"),
            .recordType("Note"), .field("title"),
        ]
        var envelope = Envelope(
            header: .init(operationKind: .init(rawValue: 2)),
            events: names.map { InternedName(ordinal: 1, name: $0).event } + [try zoneEvent(.zoneSaved)])
        if drawsSecret {
            envelope.events.append(try SecretDrawnEvent(number: 1, secret: Array(1...32)).event())
        }
        try append(envelope.encoded())
    }

    func zoneEvent(_ kind: EventKind) throws -> Event {
        if kind == .zoneSaved {
            return try ZoneSavedEvent(zone: 1, database: 1, capabilities: [.fetchChanges, .atomic]).event()
        }
        let life = Version(offset: 1, eventIndex: 6)
        return try ZoneDeletedEvent(zone: 1, database: 1, incarnation: life, reason: .purged).event()
    }

    func noteEvent(_ name: String, kind: EventKind = .recordSaved, filling: [UInt8] = []) throws -> Event {
        let record = RecordKey(zone: 1, name: name)
        switch kind {
        case .recordDeleted:
            return try RecordDeletedEvent(record, type: 1, previous: Version(offset: 2, eventIndex: 0)).event()
        case .recordErased:
            return try RecordErasedEvent(
                record, type: 1, previous: Version(offset: 2, eventIndex: 0), reason: "asked for"
            ).event()
        default:
            let fields = filling.isEmpty ? [] : [FieldChange(1, .data(filling))]
            return try RecordSavedEvent(.create, record, type: 1, fields: fields).event()
        }
    }

    func noise(_ count: Int) -> [UInt8] { generator.nextBytes(count) }

    static let header = EnvelopeHeader(user: 1, device: 1, operationKind: .modifyRecords)

    func saveNotes(_ count: Int, noise: Int = 20, header: EnvelopeHeader = header) throws {
        for _ in 0..<count {
            noteCount += 1
            let event = try noteEvent("note-\(noteCount)", filling: generator.nextBytes(noise))
            try append(Envelope(header: header, events: [event]).encoded())
        }
    }

    @discardableResult
    func append(_ payload: [UInt8]) throws -> Position {
        guard let log else { throw StrataError(.closed, "The fixture's store is closed.") }
        commitCount += 1
        time.advance(byMicroseconds: 1_500_000)
        let commit = NewCommit(
            id: Identifier(high: 0xA0, low: commitCount), time: time.nowMicroseconds(), payload: payload[...])
        return try log.append([commit], expecting: log.end).positions[0]
    }

    func sealAll() throws {
        while try log?.sealNext() == true {}
    }

    func trim(to offset: UInt64) throws -> Position? { try log?.trim(to: offset) }

    /// Puts a base in place of the commits up to `offset`.
    func replaceHistory(to offset: UInt64) throws {
        guard let log else { return }
        var payloads = [try log.commit(at: 1)].compactMap { $0?.payload }[...]
        try log.adopt(try log.writeBase(at: offset) { payloads.popFirst() })
    }

    // MARK: The files

    /// Paths of the segments, in order.
    func segments() throws -> [String] {
        try RealFileSystem().list(path + "/log").filter { $0.hasSuffix(".seg") }.sorted().map { "\(path)/log/\($0)" }
    }

    /// Every file with its bytes.
    func content() throws -> [String: [UInt8]] { try StateFixture.content(path) }

    func change(_ file: String, at position: Int, _ body: (UInt8) -> UInt8) throws {
        let file = try RealFileSystem().open(file, .write)
        defer { file.close() }
        let byte = try file.read(count: 1, at: position)
        try file.write([body(byte[0])], at: position)
    }

    func appendBytes(_ bytes: [UInt8], to file: String) throws {
        let file = try RealFileSystem().open(file, .write)
        defer { file.close() }
        try file.write(bytes, at: try file.size())
    }

    /// Bytes that nobody finished writing, behind the end.
    func addUnfinishedTail() throws {
        guard let newest = try segments().last else { return }
        try appendBytes([UInt8](repeating: 0xAB, count: 100), to: newest)
    }

    /// Flips a byte in the body of the commit in the middle of a segment that was closed or marked, so it counts as
    /// synced.
    func flipByte(inSegment index: Int) throws {
        let file = try segments()[index]
        let bytes = try RealFileSystem().readAll(file, atMost: 1 << 30)
        let size = bytes.count
        try change(file, at: size / 2) { $0 ^ 0x10 }
    }

    /// Raises the version in a header block and corrects the checksum.
    func makeNewer(_ file: String) throws {
        var block = try RealFileSystem().readAll(file, atMost: 4_096)
        block = Array(block.prefix(Int(block[10]) | Int(block[11]) << 8))
        block[8] = 2
        for place in 12..<16 { block[place] = 0 }
        let checksum = block.withUnsafeBytes { CRC32C.checksum($0) }
        for place in 0..<4 { block[12 + place] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * place)) }
        let target = try RealFileSystem().open(file, .write)
        defer { target.close() }
        try target.write(block, at: 0)
    }

    // MARK: The tool

    func run(_ words: String...) throws -> ToolResult {
        try ToolProcess(words, in: directory.path).finish()
    }

    func start(_ words: String...) throws -> ToolProcess { try ToolProcess(words, in: directory.path) }
}
