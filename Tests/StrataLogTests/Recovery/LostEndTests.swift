import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// How the newest part of a log can get lost.
enum LostEnd: String, CaseIterable, Sendable {
    case removed, twoRemoved, allButFirstRemoved, cutToHeader, cutWithinCommit, zeros, zerosFromCommit

    /// Takes it from files; each has the path of a segment.
    func take(_ segments: [String], on files: any FileSystem) throws {
        func change(_ body: (any File, Int) throws -> Void) throws {
            let file = try files.open(segments[segments.count - 1], .write)
            defer { file.close() }
            try body(file, try file.size())
        }
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        switch self {
        case .removed: try files.remove(segments[segments.count - 1])
        case .twoRemoved: for path in segments.suffix(2) { try files.remove(path) }
        case .allButFirstRemoved: for path in segments.dropFirst() { try files.remove(path) }
        case .cutToHeader: try change { file, _ in try file.truncate(to: LogFormat.segmentHeaderBytes) }
        case .cutWithinCommit:
            try change { file, size in try file.truncate(to: size - LogFormat.frameHeaderBytes - 20) }
        case .zeros:
            let header = LogFormat.segmentHeaderBytes
            try change { file, size in try file.write(zeros(size - header), at: header) }
        case .zerosFromCommit: try change { file, size in try file.write(zeros(size / 2), at: size - size / 2) }
        }
    }
}

@Suite("A log that lost its newest part: log/tail knows how far it reached")
struct LostEndTests {
    private let store: RealStore
    private let end: Position
    private var path: String { store.paths.store }

    /// A closed store of several segments.
    init() throws {
        store = try RealStore()
        let log = try store.open()
        for _ in 0..<12 { try log.appendOne(bytesPerEvent: 30_000) }
        end = log.end
        try log.close()
    }

    private func segments() throws -> [String] {
        try RealFileSystem().list(store.paths.log).filter { $0.hasSuffix(".seg") }.sorted()
            .map { "\(store.paths.log)/\($0)" }
    }

    @Test("Opening fails and names what is missing; nothing is changed", arguments: LostEnd.allCases)
    func opening(_ way: LostEnd) throws {
        try #require(try segments().count > 3)
        try way.take(try segments(), on: RealFileSystem())
        let sizes = try segments().map { try RealFileSystem().readAll($0, atMost: 1 << 20) }
        let last = try LogReader.open(at: path, requiresWholeEnd: false).end.offset
        #expect(last < end.offset)
        for open in [{ _ = try store.open() }, { _ = try store.reader() }] {
            let error = try #require(thrownError(open))
            #expect(error.code == .missingSegment && error.context.path == store.paths.tail)
            #expect(error.context.expected?.hasPrefix("commits \(last + 1) to \(end.offset)") == true, "\(error)")
        }
        #expect(try segments().map { try RealFileSystem().readAll($0, atMost: 1 << 20) } == sizes)
        #expect(try store.hint().durableEnd == end)
        let report = LogVerifier.verify(at: path)
        #expect(report.damage?.code == .missingSegment && report.end.offset == last)
        #expect(report.extent?.lostOffsets == OffsetRanges([last + 1...end.offset]))
    }

    @Test("A repair takes it for what it is, keeps what proved it, and the log goes on", arguments: LostEnd.allCases)
    func repair(_ way: LostEnd) throws {
        try way.take(try segments(), on: RealFileSystem())
        let plan = try LogRepair.plan(at: path)
        let last = plan.end.offset
        #expect(plan.obstacle == nil && plan.lostOffsets == OffsetRanges([last + 1...end.offset]))
        #expect(thrownCode { _ = try store.open() } == .missingSegment, "a plan changes nothing")
        try LogRepair.apply(at: path)
        #expect(try RealFileSystem().exists(store.paths.tail + ".repaired-1"))
        #expect(LogVerifier.verify(at: path).damage == nil)
        let log = try store.open()
        #expect(log.end.offset == last)
        try log.appendOne()
        try log.close()
        #expect(try store.reader().end.offset == last + 1 && LogRepair.plan(at: path).isWhole)
    }

    @Test("Put back, the log is whole again")
    func putBack() throws {
        let newest = try #require(try segments().last)
        let bytes = try RealFileSystem().readAll(newest, atMost: 1 << 20)
        try RealFileSystem().remove(newest)
        #expect(thrownCode { _ = try store.open() } == .missingSegment)
        try RealFileSystem().open(newest, .create).write(bytes, at: 0)
        let log = try store.open()
        #expect(log.end == end)
        try log.close()
    }

    @Test("Other damage in front: the repair also takes away what names commits behind the cut")
    func otherDamage() throws {
        let path = try segments()[1]
        let file = try RealFileSystem().open(path, .write)
        let size = try file.size()
        try file.write([UInt8](repeating: 7, count: 100), at: size / 2)
        file.close()
        #expect(LogVerifier.verify(at: self.path).extent?.furtherDamage.isEmpty == true)
        let plan = try LogRepair.apply(at: self.path)
        #expect(plan.end.offset < end.offset && plan.obstacle == nil)
        let log = try store.open()
        #expect(log.end == plan.end)
        try log.close()
    }

    // MARK: What is none

    @Test(
        "Commits that were never synced may be gone",
        arguments: [Durability.system, .interval(.milliseconds(86_400_000))])
    func notDurable(_ durability: Durability) throws {
        let store = try RealStore()
        let log = try store.open(durability)
        try log.appendOne()
        try log.sync()
        let synced = try RealFileSystem().readAll(store.paths.segment(1), atMost: 1 << 20)
        for _ in 0..<3 { try log.appendOne() }
        #expect(try store.hint().end.offset == 4 && store.hint().durableEnd.offset == 1)
        // As a loss of power leaves it, but for the page, of which all is there.
        let copy = try store.copy()
        let file = try RealFileSystem().open(copy.paths.segment(1), .write)
        try file.truncate(to: 0)
        try file.write(synced, at: 0)
        file.close()
        #expect(LogVerifier.verify(at: copy.paths.store).damage == nil)
        #expect(try copy.reader().end.offset == 1)
        try copy.open().close()
        try log.close()
    }

    @Test("A page of another boot is as good; one of another store or a damaged one says nothing")
    func otherPages() throws {
        try LostEnd.removed.take(try segments(), on: RealFileSystem())
        var hint = try store.hint()
        hint.bootID = Identifier(high: 1, low: 2)
        try store.overwritePage(hint.encoded())
        #expect(thrownCode { _ = try store.reader() } == .missingSegment)
        try store.overwritePage([hint.encoded()[20] ^ 1], at: 20)
        _ = try store.reader()
        hint.storeID = Identifier(high: 1, low: 2)
        try store.overwritePage(hint.encoded())
        #expect(LogVerifier.verify(at: path).damage == nil)
        try store.open().close()
    }

    @Test("A file that has another chain value in front of the end speaks of another log")
    func anotherChain() throws {
        let reader = try store.reader()
        let storeID = reader.identity.storeID
        func error(_ chain: UInt32, at offset: UInt64) -> StrataError? {
            [
                EndWitness(
                    path: "views", storeID: storeID, position: Position(offset: end.offset + 5, chain: 1),
                    earlier: [Position(offset: offset, chain: chain)])
            ].lostEnd(after: end.offset, of: storeID) { reader }
        }
        let chain = try reader.chain(at: 3)
        #expect(error(chain, at: 3)?.code == .missingSegment)
        #expect(error(chain ^ 1, at: 3) == nil)
        #expect(error(chain, at: end.offset + 1)?.code == .missingSegment, "nothing can be said of what is not there")
    }

    @Test("A reader beside a writer never takes what comes meanwhile for lost")
    func besideWriter() throws {
        let log = try store.open()
        let thread = try WorkerThread(name: "writer") {
            for _ in 0..<300 { try? log.appendOne(bytesPerEvent: 3_000) }
        }
        for _ in 0..<60 {
            _ = try store.reader()
            #expect(LogVerifier.verify(at: path).damage == nil)
        }
        thread.join()
        try log.close()
    }
}
