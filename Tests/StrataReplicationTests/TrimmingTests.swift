import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("A sequencer that is trimmed to a base", .timeLimit(.minutes(3)))
struct TrimmingTests {
    private let copies = SharedCopies()

    private func code(_ body: () throws -> Void) -> StrataError.Code? { failureCode(body) }

    @Test("A new copy begins with the base, and goes on like all others")
    func newCopy() throws {
        let first = try copies.open("A")
        try copies.append(10, to: first)
        let mark = try copies.trim(first, before: 14)
        // The last entry before commit 14 has the commits 11 and 12; the identity is an entry, too.
        #expect(mark.horizon.offset == 12 && mark.number == 7)
        #expect(code { _ = try copies.sequencer.entries(after: 6, waitingMilliseconds: 0) } == .outOfRange)
        #expect(first.floor == .start && first.end.offset == 20)
        let second = try copies.open("B")
        #expect(second.floor == mark.horizon && second.identity == first.identity)
        #expect(try SharedCopies.difference(second, from: first) == nil)
        try copies.append(2, to: second)
        try copies.append(2, to: first)
        for name in ["C", "B"] {
            if name == "B" { try second.close() }
            let log = try copies.open(name)
            #expect(try SharedCopies.difference(log, from: first) == nil)
            #expect(try !copies.disk.exists("/\(name)/JOINING"))
            try log.close()
        }
    }

    @Test("A second trim replaces the first base, and a copy that is made in between goes on")
    func again() throws {
        let first = try copies.open("A")
        try copies.append(10, to: first)
        try copies.trim(first, before: 9)
        let second = try copies.open("B")
        try copies.append(5, to: second)
        // The copy with a base makes the next one; the others note that they have read so much.
        for log in [first, second] { _ = try (log.confirmEnd(), log.close()) }
        let third = try copies.open("B")
        let mark = try copies.trim(third, before: 21)
        #expect(try copies.bases.count == 2 && mark.horizon.offset == 20)
        for name in ["A", "C"] {
            let log = try copies.open(name)
            #expect(log.floor.offset == (name == "A" ? 0 : 20) && log.end == third.end)
            #expect(log.identity == first.identity)
        }
    }

    @Test("After each step all copies follow, and a new one has everything", arguments: SharedCopies.Step.allCases)
    func steps(step: SharedCopies.Step) throws {
        let first = try copies.open("A")
        try copies.append(6, to: first)
        try copies.trim(first, before: 9, through: step)
        let second = try copies.open("B")
        #expect(second.floor.offset == (step == .finished ? 8 : 0))
        #expect(try SharedCopies.difference(second, from: first) == nil)
        // The trim can be done again.
        try copies.append(1, to: second)
        if step != .finished {
            _ = try first.confirmEnd()
            try copies.trim(first, before: 9)
        }
        let third = try copies.open("C")
        #expect(try third.floor.offset == 8 && SharedCopies.difference(third, from: first) == nil)
    }

    @Test("A loss of power before each call of a trim leaves a store that old and new copies can use")
    func powerLoss() throws {
        let first = try copies.open("A")
        try copies.append(6, to: first)
        let survivors = Lock<[SimulatedDisk]>([])
        let disk = copies.disk
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, path.hasPrefix(SharedCopies.sequence) else { return }
            if [.exists, .open, .size, .read, .list].contains(kind) { return }
            survivors.withLock { survivors in
                survivors += SimulatedDisk.PowerLoss.allCases.map {
                    disk.afterPowerLoss(seed: UInt64(survivors.count), keeping: $0)
                }
            }
        }
        try copies.trim(first, before: 9)
        disk.beforeCall = nil
        let all = survivors.withLock { $0 }
        #expect(all.count > 60)
        var floors: Set<UInt64> = []
        for disk in all {
            let copies = SharedCopies(on: disk)
            let old = try copies.open("A")
            #expect(old.end.offset == 12)
            let new = try copies.open("B")
            #expect(try SharedCopies.difference(new, from: old) == nil)
            floors.insert(new.floor.offset)
            try copies.append(1, to: new)
            _ = try old.confirmEnd()
            if new.floor.offset == 0 { try copies.trim(old, before: 9) }
            #expect(try old.confirmEnd() == new.end)
        }
        #expect(floors == [0, 8])
    }

    @Test("A loss of power while a copy is made from the base leaves a directory in which it is made anew")
    func interruptedJoin() throws {
        let first = try copies.open("A")
        try copies.append(6, to: first)
        try copies.trim(first, before: 9)
        let survivors = Lock<[SimulatedDisk]>([])
        let disk = copies.disk
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, path.hasPrefix("/B") else { return }
            if [.exists, .open, .size, .read, .list].contains(kind) { return }
            survivors.withLock { survivors in
                survivors += SimulatedDisk.PowerLoss.allCases.map {
                    disk.afterPowerLoss(seed: UInt64(survivors.count), keeping: $0)
                }
            }
        }
        _ = try copies.open("B")
        disk.beforeCall = nil
        let all = survivors.withLock { $0 }
        #expect(all.count > 60)
        for disk in all {
            let copies = SharedCopies(on: disk)
            let (old, new) = (try copies.open("A"), try copies.open("B"))
            #expect(try new.floor.offset == 8 && SharedCopies.difference(new, from: old) == nil)
            #expect(try !disk.exists("/B/JOINING"))
        }
    }

    @Test("A copy is not made from a base among other files")
    func foreignFiles() throws {
        let first = try copies.open("A")
        try copies.append(3, to: first)
        try copies.trim(first, before: 5)
        try copies.disk.makeDirectory("/B")
        copies.disk.setContent([1], of: "/B/letter.txt")
        #expect(code { _ = try copies.open("B") } == .notAStore)
        #expect(try copies.disk.content(of: "/B/letter.txt") == [1])
    }

    @Test("A copy that is made while others write and trim has everything, or is told that it came too late")
    func concurrently() throws {
        let first = try copies.open("A")
        try copies.append(3, to: first)
        let disk = copies.disk
        let errors = Lock<[String]>([])
        /// Repeats what a conflict with another process's entry ends, until it was done as often as `count`.
        func worker(_ name: String, _ count: Int, _ body: @escaping @Sendable (SharedCopies) throws -> Void) throws
            -> WorkerThread
        {
            try WorkerThread(name: name) {
                let own = SharedCopies(on: disk, seed: UInt64(count))
                var done = 0
                while done < count {
                    do {
                        try body(own)
                        done += 1
                    } catch AppendFailure.conflict {} catch {
                        errors.withLock { $0.append("\(name): \(error)") }
                        return
                    }
                }
            }
        }
        let second = try copies.open("B")
        let writer = try worker("writer", 60) {
            try $0.append(1, to: second)
            try second.note(sharesNow: true)
        }
        let trimmer = try worker("trimmer", 10) {
            try $0.append(1, to: first)
            let offset = try first.confirmEnd().offset
            // Only what all copies have read is trimmed.
            _ = try second.confirmEnd()
            try second.note(sharesNow: true)
            try $0.trim(first, before: offset)
        }
        var (joined, late) = (0, 0)
        for number in 0..<12 {
            do {
                let new = try copies.open("New\(number)", notes: false)
                _ = try first.confirmEnd()
                #expect(try first.copy.has(new.end))
                joined += 1
                try new.close()
            } catch let error as StrataError where [.outOfRange, .notFound].contains(error.code) { late += 1 }
        }
        for thread in [writer, trimmer] { thread.join() }
        #expect(errors.withLock { $0.first } == nil)
        let last = try copies.open("Last")
        for log in [first, second] { #expect(try SharedCopies.difference(last, from: log) == nil) }
        #expect(try joined > 0 && copies.bases.count == 2, "\(joined), \(late)")
    }

    // MARK: Limits

    @Test("What cannot be trimmed is refused, and changes nothing")
    func limits() throws {
        let log = try copies.open("A")
        func refuses(before offset: UInt64) throws -> Bool {
            let (last, names) = (try copies.sequencer.last(), try? copies.bases)
            let isRefused = code { try copies.trim(log, before: offset) } == .invalidArgument
            return try isRefused && copies.sequencer.last() == last && names == (try? copies.bases)
        }
        // Only the identity.
        #expect(try refuses(before: 1))
        try copies.append(5, to: log)
        // Commit 2 is in the middle of the first entry, and there are ten.
        for offset: UInt64 in [0, 1, 2, 12] { #expect(try refuses(before: offset), "before \(offset)") }
        #expect(try copies.trim(log, before: 5).horizon.offset == 4)
        for offset: UInt64 in [1, 4, 5, 6] { #expect(try refuses(before: offset), "before \(offset) again") }
        #expect(try copies.trim(log, before: 11).horizon.offset == 10)
        let new = try copies.open("B")
        #expect(try new.floor == log.end && SharedCopies.difference(new, from: log) == nil)
    }

    @Test("A store without a directory that all share refuses to trim, and a trimmed one is not joined without it")
    func withoutDirectory() throws {
        let alone = try copies.open("A", sharing: false)
        try copies.append(3, to: alone)
        #expect(code { try copies.trim(alone, before: 5) } == .invalidArgument)
        let log = try copies.open("B")
        try copies.trim(log, before: 5)
        #expect(code { _ = try copies.open("C", sharing: false) } == .outOfRange)
        #expect(try !copies.disk.exists("/C"))
        // Whoever has read what was trimmed goes on.
        try alone.close()
        #expect(try copies.open("A", sharing: false).end == log.end)
    }

    @Test("What a copy that was heard of within seven days has not read stays, unless copies are ignored")
    func slowCopy() throws {
        let (log, slow) = (try copies.open("A"), try copies.open("B"))
        try slow.close()
        try copies.append(5, to: log)
        #expect(code { try copies.trim(log, before: 9) } == .invalidArgument)
        copies.clock.advance(byMicroseconds: 7 * SharedCopies.day - 1)
        #expect(code { try copies.trim(log, before: 9) } == .invalidArgument)
        #expect(try copies.trim(log, before: 5, ignoresCopies: true).horizon.offset == 4)
        copies.clock.advance(byMicroseconds: 1)
        #expect(try copies.trim(log, before: 9).horizon.offset == 8)
        // It has lost nothing, can be read, and says what to do.
        let error = try #require(throws: StrataError.self) { _ = try copies.open("B", milliseconds: 100) }
        #expect(error.code == .outOfRange && error.message.contains("make a new copy"))
        let reader = try LogReader.open(at: "/B", platform: copies.platform)
        #expect(reader.end == .start)
    }

    @Test("A copy that follows notes what it has read, and a damaged note counts as one that has read nothing")
    func notes() throws {
        let (log, other) = (try copies.open("A"), try copies.open("B"))
        try other.follow {}
        try copies.append(5, to: log)
        let end = try copies.sequencer.last()
        func slowest() throws -> UInt64? {
            try CopyNotes(in: SharedCopies.files, copies.disk).live(now: copies.clock.nowMicroseconds())
                .map(\.number).min()
        }
        copies.clock.advance(byMicroseconds: 10_000_000)
        // A copy that does not follow notes how far it is when it trims.
        #expect(code { try copies.trim(log, before: 1) } == .invalidArgument)
        // The other one may note an earlier entry first, and then waits for ten seconds.
        #expect(
            try eventually {
                copies.clock.advance(byMicroseconds: 10_000_000)
                return try slowest() == end
            })
        let name = try #require(try copies.disk.list(SharedCopies.files + "/copies").first)
        copies.disk.setContent(Array("7\n".utf8), of: SharedCopies.files + "/copies/" + name)
        #expect(try slowest() == 0)
        try other.close()
    }

    @Test("A copy that stopped while it was open, and the sequencer was trimmed past it, takes no writes")
    func stoppedCopy() throws {
        let (log, slow) = (try copies.open("A"), try copies.open("B", milliseconds: 100))
        try copies.append(5, to: log)
        try copies.trim(log, before: 9, ignoresCopies: true)
        #expect(code { _ = try slow.confirmEnd() } == .outOfRange)
        #expect(code { try copies.append(1, to: slow) } == .outOfRange)
        #expect(slow.end == .start)
    }

    // MARK: Damage

    @Test("A base that is damaged or missing is reported, and leaves no copy", arguments: ["flip", "cut", "remove"])
    func damagedBase(kind: String) throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let path = copies.paths(of: try copies.trim(log, before: 9)).base
        switch kind {
        case "flip": try copies.disk.flipBit(path, byte: 300, bit: 1)
        case "cut": try copies.disk.truncateFile(path, to: 200)
        default: try copies.disk.removeFile(path)
        }
        #expect(code { _ = try copies.open("B") } == (kind == "remove" ? .notFound : .badChecksum))
        #expect(try !copies.disk.exists("/B"))
        // Others go on, also after a loss of `REPLICA`.
        try log.close()
        try copies.disk.removeFile("/A/REPLICA")
        let again = try copies.open("A")
        try copies.append(1, to: again)
        #expect(again.end.offset == 12)
    }

    @Test("A mark whose file is damaged or missing is found among the entries", arguments: [true, false])
    func damagedMark(isMissing: Bool) throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let path = copies.paths(of: try copies.trim(log, before: 9)).mark
        try isMissing ? copies.disk.removeFile(path) : copies.disk.flipBit(path, byte: 100, bit: 1)
        try copies.append(30, to: log)
        let new = try copies.open("B")
        #expect(try new.floor.offset == 8 && SharedCopies.difference(new, from: log) == nil)
        // Without the base, too, the identity is known, and another base can be made.
        try copies.disk.removeFile(String(path.dropLast(5)))
        #expect(code { _ = try copies.open("C") } == (isMissing ? .notFound : .badChecksum))
        #expect(try copies.trim(log, before: 60, ignoresCopies: true).horizon.offset == 58)
        #expect(try SharedCopies.difference(copies.open("C"), from: log) == nil)
    }

    @Test("If the newest base is damaged, an older one is used that the sequencer still continues")
    func olderBase() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let older = try copies.trim(log, before: 5, through: .marked)
        let newer = try copies.trim(log, before: 9, through: .marked)
        _ = try copies.sequencer.trim(through: older.number)
        #expect(try copies.open("B").floor == newer.horizon)
        try copies.disk.flipBit(copies.paths(of: newer).base, byte: 300, bit: 1)
        let copy = try copies.open("C")
        #expect(try copy.floor == older.horizon && SharedCopies.difference(copy, from: log) == nil)
    }

    @Test("A sequencer that lost the mark of a base is noticed by whoever begins there, each time")
    func lostMark() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        try copies.trim(log, before: 9)
        let last = try copies.sequencer.last()
        let digits = String(last)
        try copies.disk.removeFile(
            "\(SharedCopies.sequence)/\(String(repeating: "0", count: 20))/"
                + String(repeating: "0", count: 20 - digits.count) + digits)
        for _ in 0..<2 { #expect(code { _ = try copies.open("B") } == .brokenSequence) }
    }

    @Test("The mark of a base of another history stops whoever has this one")
    func foreignMark() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let mark = try copies.trim(log, before: 9, through: .published)
        let forged = BaseMark(
            number: mark.number, entry: mark.entry,
            horizon: Position(offset: mark.horizon.offset, chain: ~mark.horizon.chain), time: mark.time,
            base: mark.base, byteCount: mark.byteCount, hash: mark.hash, identity: mark.identity, terms: mark.terms)
        let other = try copies.open("B", milliseconds: 100)
        #expect(throws: StrataError.self) { _ = try other.append(forged) }
        #expect(code { _ = try log.confirmEnd() } == .brokenChain)
    }

    @Test("Canary: entries that go without a base are noticed")
    func canary() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let mark = try copies.trim(log, before: 9, through: .published)
        _ = try copies.sequencer.trim(through: mark.number)
        #expect(code { _ = try copies.open("B") } == .outOfRange)
    }

    @Test("Canary: a base that lacks a commit is noticed by the comparison of these tests")
    func wrongBase() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        try copies.trim(log, before: 9, lacking: 3)
        let new = try copies.open("B")
        #expect(try SharedCopies.difference(new, from: log) == "payload 3 of the base differs")
    }

    // MARK: Identity

    @Test("The options of the first process hold on a trimmed sequencer, for new copies and for old ones")
    func terms() throws {
        let log = try copies.open("A", terms: "schema open\nlimits 400")
        try copies.append(5, to: log)
        // The trim of a tool, which judges no requests.
        try log.close()
        let tool = try copies.open("T", terms: "")
        try copies.trim(tool, before: 9)
        try copies.trim(tool, before: 11)
        for name in ["A", "B"] {
            #expect(code { _ = try copies.open(name, terms: "schema open\nlimits 7") } == .invalidArgument)
            try copies.open(name, terms: "schema open\nlimits 400").close()
        }
    }

    @Test("A copy that does not know how far it has read compares from the base on")
    func lostReplica() throws {
        let (log, short) = (try copies.open("A"), try copies.open("C"))
        try copies.append(5, to: log)
        try short.close()
        let mark = try copies.trim(log, before: 9, ignoresCopies: true)
        let new = try copies.open("B")
        for log in [log, new] { try log.close() }
        for name in ["A", "B", "C"] { try copies.disk.removeFile("/\(name)/REPLICA") }
        for name in ["A", "B"] {
            let again = try copies.open(name)
            #expect(again.end.offset == 10 && again.floor.offset == (name == "A" ? 0 : mark.horizon.offset))
            try again.close()
        }
        // It ends before the base.
        #expect(code { _ = try copies.open("C") } == .outOfRange)
        // A copy that was compacted past the base.
        let compacted = try copies.open("A")
        try compacted.sync()
        let draft = try compacted.copy.writeBase(at: 10) { nil }
        try compacted.copy.adopt(draft)
        try compacted.close()
        try copies.disk.removeFile("/A/REPLICA")
        let again = try copies.open("A")
        try copies.append(1, to: again)
        #expect(again.floor.offset == 10 && again.end.offset == 12)
    }

    @Test("A copy whose note is older than what was trimmed compares from the base on")
    func oldNote() throws {
        let (log, behind) = (try copies.open("A"), try copies.open("B"))
        try copies.append(2, to: log)
        _ = try behind.confirmEnd()
        try behind.close()
        let note = try copies.disk.readAll("/B/REPLICA", atMost: 200)
        for isStart in [true, false] {
            try copies.append(4, to: log)
            let again = try copies.open("B")
            try again.close()
            if isStart {
                try CopyMark.start(SystemRandom()).write(
                    StorePaths("/B"), copies.disk, store: log.identity.storeID)
            } else {
                try copies.disk.replace("/B/REPLICA", in: "/B", with: note)
            }
            _ = try copies.trim(log, before: log.end.offset - 1, ignoresCopies: true)
            let last = try copies.open("B")
            #expect(last.end == log.end)
            try last.close()
        }
    }

    @Test("A copy notes its progress as soon as the shared directory belongs to its store")
    func lateOwner() throws {
        let log = try copies.open("A")
        // The first process of a store opens its log before the directory gets its owner.
        #expect(!(try copies.disk.exists(SharedCopies.files + "/copies")))
        try log.note()
        #expect(try copies.disk.list(SharedCopies.files + "/copies").count == 1)
    }

    /// Notes the numbers after which entries are asked for.
    private final class AskedSequencer: Sequencer {
        private let inner: any Sequencer
        let asked = Lock<[UInt64]>([])

        init(_ inner: any Sequencer) { self.inner = inner }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
            asked.withLock { $0.append(number) }
            return try inner.entries(after: number, waitingMilliseconds: min(milliseconds, 10))
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    @Test("A base whose number the sequencer has not reached is passed over without a search")
    func numberAhead() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let mark = try copies.trim(log, before: 7)
        let bases = SharedCopies.files + "/bases"
        let bytes = try copies.disk.readAll(copies.paths(of: mark).mark, atMost: 1 << 14)
        try copies.disk.replace(bases + "/" + String(repeating: "9", count: 19) + "-old.mark", in: bases, with: bytes)
        let sequencer = AskedSequencer(try copies.sequencer)
        let start = try SequenceStart.base(of: sequencer, in: SharedCopies.files, copies.disk)
        #expect(start.mark == mark)
        #expect(sequencer.asked.withLock { $0 } == [mark.number])
    }

    @Test("History is read, compared and published without a copy from the base on")
    func history() throws {
        let log = try copies.open("A")
        try copies.append(5, to: log)
        let mark = try copies.trim(log, before: 9)
        #expect(code { _ = try SequencedHistory(copies.sequencer) } == .outOfRange)
        var history = try SequencedHistory(copies.sequencer, in: SharedCopies.files, copies.disk)
        #expect(history.identity == log.identity && history.first == mark.number + 1 && history.end == mark.horizon)
        let last = try copies.sequencer.last()
        var offsets: [UInt64] = []
        while let commits = try history.next(through: last) { offsets += commits.map(\.offset) }
        #expect(offsets == [9, 10] && history.end == log.end)
        // A sequencer that lost its last commits gets them back.
        try copies.append(2, to: log)
        for number in [last + 1, last + 2] {
            let digits = String(number)
            try copies.disk.removeFile(
                "\(SharedCopies.sequence)/\(String(repeating: "0", count: 20))/"
                    + String(repeating: "0", count: 20 - digits.count) + digits)
        }
        var publisher = try HistoryPublisher(
            of: log.copy, log.identity, to: copies.sequencer, in: SharedCopies.files, platform: copies.platform)
        try publisher.compare()
        #expect(try publisher.publish() == 4 && publisher.end == log.end)
    }
}
