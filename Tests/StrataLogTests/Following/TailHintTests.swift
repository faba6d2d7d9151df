import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataLog

@Suite("The hint page")
struct TailHintTests {
    private let store: RealStore
    private let log: SegmentedLog
    /// How far the page vouches.
    private let durable: Position
    /// How far the files reach.
    private let end: Position

    /// A writer that lives, with three durable commits and two behind them that are not.
    init() throws {
        store = try RealStore()
        log = try store.open(.system)
        var sequence = CommitSequence(seed: 1)
        _ = try log.append(sequence.next(3), expecting: .start)
        try log.sync()
        durable = log.end
        _ = try log.append(sequence.next(2), expecting: log.end)
        end = log.end
    }

    @Test("It tells how far the log reaches, and who writes")
    func content() throws {
        let hint = try store.hint()
        #expect(hint.storeID == log.identity.storeID && hint.bootID == BootIdentity.current)
        #expect(hint.durableEnd == durable && hint.end == end && !hint.isClosed)
        #expect(hint.processIdentifier == ProcessIdentity.current.identifier && hint.opened > 0)
        #expect(try TailHint(decoding: hint.encoded(), path: "") == hint)
        #expect(hint.encoded().count <= TailHint.Place.block.count)
        #expect(durable.offset == 3 && end.offset == 5)
    }

    @Test("Beside a living writer a reader goes as far as the page vouches, and on when that moves")
    func limit() throws {
        let reader = try store.reader()
        #expect(reader.end == durable && reader.unfinishedTail == nil)
        #expect(try store.reader(.written).end == end)
        #expect(try !reader.refresh())
        try log.sync()
        #expect(try reader.refresh() && reader.end == end)
        #expect(try reader.allCommits() == log.allCommits())
    }

    @Test("Canary: without the page the reader would go farther")
    func canary() throws {
        try RealFileSystem().remove(store.paths.tail)
        #expect(try store.reader().end == end)
    }

    @Test("A page that is of no use is ignored, until the writer writes it again", arguments: Uselessness.allCases)
    func useless(_ uselessness: Uselessness) throws {
        let reader = try store.reader()
        #expect(reader.end == durable)
        try store.overwritePage(try uselessness.spoil(store.page(), try store.hint()))
        #expect(try reader.refresh() && reader.end == end)
        #expect(try store.reader().end == end)
        #expect(try reader.wait(past: end.offset, milliseconds: 1) == false)
        try log.appendOne()
        #expect(try !reader.refresh() && reader.end == end)
        try log.sync()
        #expect(try reader.refresh() && reader.end == log.end)
    }

    enum Uselessness: CaseIterable, CustomTestStringConvertible {
        case torn, zeros, foreignMagic, otherStore, otherBoot, laterVersion, mandatoryField, otherHistory

        var testDescription: String { "\(self)" }

        func spoil(_ page: [UInt8], _ hint: TailHint) throws -> [UInt8] {
            var hint = hint
            var page = page
            var fields = try HeaderBlock(decoding: page, magic: LogFormat.tailMagic, path: "").fields
            switch self {
            case .torn:
                page[40] ^= 1
                return page
            case .zeros: return [UInt8](repeating: 0, count: page.count)
            case .foreignMagic:
                page[0] ^= 1
                return page
            case .laterVersion:
                return HeaderBlock(magic: LogFormat.tailMagic, fields: fields).encoded(version: LogFormat.version + 1)
            case .mandatoryField:
                fields.append(.init(99, 1 as UInt32))
                return HeaderBlock(magic: LogFormat.tailMagic, fields: fields).encoded()
            case .otherStore: hint.storeID = Identifier(high: 1, low: 1)
            case .otherBoot: hint.bootID = Identifier(high: 1, low: 1)
            case .otherHistory: hint.durableEnd.chain ^= 1
            }
            return hint.encoded()
        }
    }

    @Test("A page of a writer that is dead is ignored, as in a copy; one of a writer that closed, too")
    func dead() throws {
        let copy = try store.copy()
        #expect(try copy.hint() == store.hint())
        #expect(try copy.reader().end == end)
        try log.close()
        #expect(try store.hint().isClosed)
        #expect(try store.hint().durableEnd == end)
        #expect(try store.reader().end == end)
    }

    @Test("The next writer takes the page over, and a reader of the first goes on beside it")
    func takeover() throws {
        let reader = try store.reader()
        try log.close()
        #expect(try reader.refresh() && reader.end == end)
        let next = try store.open(.system)
        #expect(try !store.hint().isClosed)
        #expect(try store.hint().durableEnd == end)
        try next.appendOne()
        #expect(try !reader.refresh())
        try next.sync()
        #expect(try reader.refresh() && reader.end == next.end)
    }

    @Test("A writer that cannot have the page writes all the same")
    func noPage() throws {
        try log.close()
        try RealFileSystem().remove(store.paths.tail)
        try RealFileSystem().makeDirectory(store.paths.tail)
        let next = try store.open(.system)
        try next.appendOne()
        let reader = try store.reader()
        #expect(reader.end == next.end && next.end.offset == end.offset + 1)
        #expect(try !reader.wait(past: reader.end.offset, milliseconds: 1))
        try next.close()
    }

    @Test("A file of another size in its place becomes a page", arguments: [0, 10, 5_000])
    func strangeFile(byteCount: Int) throws {
        try log.close()
        try RealFileSystem().remove(store.paths.tail)
        try RealFileSystem().open(store.paths.tail, .create).write([UInt8](repeating: 7, count: byteCount), at: 0)
        #expect(try store.reader().end == end)
        let next = try store.open()
        #expect(try store.hint().durableEnd == next.end)
        #expect(try store.reader().end == end)
        try next.close()
    }

    @Test("What a writer that comes in the middle of a look has not synced is not given")
    func writerComes() throws {
        try log.close()
        let store = store
        let isArmed = Atomic(false)
        let next = Lock<SegmentedLog?>(nil)
        // Asked for behind the page, which says then that nobody writes, and in front of the frames.
        let files = HookedFiles(beforeSize: {
            guard isArmed.exchange(false, ordering: .relaxed) else { return }
            let log = try store.open(.system)
            try log.appendOne()
            next.withLock { $0 = log }
        })
        let reader = try store.reader(files: files)
        isArmed.store(true, ordering: .relaxed)
        #expect(try !reader.refresh() && reader.end == end)
        #expect(next.withLock { $0?.end.offset } == end.offset + 1)
        try next.withLock { try $0?.close() }
        #expect(try reader.refresh() && reader.end.offset == end.offset + 1)
    }

    @Test("Who may not write to the page reads it all the same, and nobody at all needs it")
    func readOnly() throws {
        let before = try store.page()
        for uses in [[SharedPageUse.read], []] {
            let files = HookedFiles(pageUses: uses, mayWrite: false)
            let reader = try store.reader(files: files)
            #expect(reader.end == (uses.isEmpty ? end : durable))
            #expect(try !reader.wait(past: end.offset, milliseconds: 1))
        }
        #expect(try store.page() == before)
    }
}
