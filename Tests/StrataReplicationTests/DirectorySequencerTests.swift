import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("A sequencer in a shared directory")
struct DirectorySequencerTests {
    private static let path = "/Notes.sequence"
    private let disk = SimulatedDisk()

    private func sequencer(on disk: SimulatedDisk? = nil) throws -> DirectorySequencer {
        try DirectorySequencer(at: Self.path, platform: Platform(files: disk ?? self.disk))
    }

    private func number(_ answer: SequencerAnswer) -> UInt64? {
        if case .accepted(let number) = answer { number } else { nil }
    }

    private func isTaken(_ answer: SequencerAnswer) -> Bool { if case .taken = answer { true } else { false } }

    private static let id = Identifier(high: 1, low: 2)

    @Test("Each number is given once, and every process reads the same entries")
    func numbers() throws {
        _ = try sequencer()
        // Across the border of two folders.
        let (floor, end) = (4_080, 4_120) as (UInt64, UInt64)
        disk.setContent(Array("\(floor)".utf8), of: Self.path + "/FLOOR")
        let (left, right) = (try sequencer(), try sequencer())
        for number in floor + 1...end {
            let (writer, other) = number % 2 == 0 ? (left, right) : (right, left)
            let entry = Array("entry \(number)".utf8)
            try #require(self.number(writer.append(entry, id: Self.id, expecting: number - 1)) == number)
            guard number % 10 == 0 else { continue }
            #expect(isTaken(other.append([1], id: Self.id, expecting: number - 1)))
            #expect(isTaken(other.append([1], id: Self.id, expecting: number + 1)))
            #expect(try other.last() == number)
        }
        for reader in [left, right, try sequencer()] {
            var (read, number) = ([[UInt8]](), floor)
            while case let page = try reader.entries(after: number, waitingMilliseconds: 0), !page.isEmpty {
                read += page
                number += UInt64(page.count)
            }
            #expect(read == (floor + 1...end).map { Array("entry \($0)".utf8) })
            #expect(try reader.last() == end)
        }
        #expect(try disk.list(Self.path + "/drafts").isEmpty)
    }

    @Test("A directory that no store uses is made only by who creates one, and never among other files")
    func creation() throws {
        func open(creates: Bool) throws {
            try DirectorySequencer(at: Self.path, creates: creates, platform: Platform(files: disk)).close()
        }
        func code(creates: Bool) -> StrataError.Code? { failureCode { try open(creates: creates) } }
        #expect(code(creates: false) == .notFound)
        #expect(try !disk.exists(Self.path))
        try disk.makeDirectory(Self.path)
        disk.setContent([1], of: Self.path + "/notes")
        #expect(code(creates: false) == .notFound && code(creates: true) == .alreadyExists)
        #expect(try disk.list(Self.path) == ["notes"])
        try disk.remove(Self.path + "/notes")
        #expect(code(creates: true) == nil && code(creates: false) == nil)
    }

    @Test("Two processes make a directory at once, and the slower one finds it made", arguments: 1...4)
    func createdTogether(call: Int) throws {
        let (count, isWritten) = (Lock(0), Lock(false))
        disk.beforeCall = { [disk] kind, path in
            guard path.hasPrefix(Self.path) else { return }
            let isNow = count.withLock { count in
                count += 1
                return count == call
            }
            guard isNow else { return }
            disk.beforeCall = nil
            let other = try? DirectorySequencer(at: Self.path, platform: Platform(files: disk))
            if case .accepted? = other?.append([7], id: Self.id, expecting: 0) { isWritten.withLock { $0 = true } }
        }
        let slower = try sequencer()
        #expect(isWritten.withLock { $0 })
        #expect(try slower.entries(after: 0, waitingMilliseconds: 0) == [[7]])
    }

    @Test("Whatever a call fails with, an acknowledged entry stays, and a refused one is not there")
    func faults() throws {
        for call in 1...12 {
            for kind in [SimulatedDisk.CallKind.create, .write, .syncData, .rename, .syncDirectory] {
                let disk = SimulatedDisk()
                let sequencer = try sequencer(on: disk)
                _ = sequencer.append([1], id: Self.id, expecting: 0)
                disk.fail(kind, at: call, with: .errno(EIO))
                var acknowledged: [UInt8] = [1]
                for entry in 2...6 as ClosedRange<UInt8> {
                    let last = (try? sequencer.last()) ?? 0
                    guard number(sequencer.append([entry], id: Self.id, expecting: last)) != nil else { continue }
                    acknowledged.append(entry)
                }
                disk.heal()
                let survivor = disk.afterPowerLoss(seed: UInt64(call), keeping: .nothingUnsynced)
                let read = try self.sequencer(on: survivor).entries(after: 0, waitingMilliseconds: 0).map { $0[0] }
                #expect(acknowledged.allSatisfy(read.contains) && read == read.sorted(), "\(kind), call \(call)")
            }
        }
    }

    @Test("An entry that was read is durable, even if its writer has not synced its name")
    func readIsDurable() throws {
        let (writer, reader) = (try sequencer(), try sequencer())
        _ = writer.append([1], id: Self.id, expecting: 0)
        disk.fail(.syncDirectory, from: 1, with: .errno(EIO))
        guard case .unknown = writer.append([2], id: Self.id, expecting: 1) else {
            Issue.record("an entry that may be lost was acknowledged")
            return
        }
        // Nobody may act on it before it is durable.
        #expect(throws: StrataError.self) { _ = try reader.entries(after: 0, waitingMilliseconds: 0) }
        disk.heal()
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0) == [[1], [2]])
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try sequencer(on: survivor).last() == 2)
    }

    @Test("An entry is given to no one until its own name and that of its folder are synced", arguments: 1...2)
    func folderIsSynced(failed: Int) throws {
        let (writer, other) = (try sequencer(), try sequencer())
        // The writer makes the folder, and cannot sync its name.
        disk.fail(.syncDirectory, at: 1, with: .errno(EIO))
        #expect(number(writer.append([1], id: Self.id, expecting: 0)) == nil)
        disk.heal()
        disk.fail(.syncDirectory, at: failed, with: .errno(EIO))
        let read = try? other.entries(after: 0, waitingMilliseconds: 0)
        #expect(read ?? [] == [])
        #expect(number(other.append([1], id: Self.id, expecting: 0)) == nil)
        disk.heal()
        #expect(try other.entries(after: 0, waitingMilliseconds: 0) == [[1]])
    }

    @Test("A damaged floor, also one after which no number is left, is an error")
    func damagedFloor() throws {
        for text in ["", "many", "-1", "18446744073709551615", "9223372036854775808"] {
            let disk = SimulatedDisk()
            _ = try DirectorySequencer(at: Self.path, platform: Platform(files: disk))
            disk.setContent(Array(text.utf8), of: Self.path + "/FLOOR")
            #expect(throws: StrataError.self, "\(text)") {
                try DirectorySequencer(at: Self.path, platform: Platform(files: disk))
            }
        }
    }

    @Test("Trimmed entries are reported as such, and a lost one lowers the last number")
    func floor() throws {
        let sequencer = try sequencer()
        for number in 0..<10 as Range<UInt64> { _ = sequencer.append([UInt8(number)], id: Self.id, expecting: number) }
        #expect(try sequencer.trim(through: 4) == 4)
        #expect(try sequencer.trim(through: 2) == 4)
        #expect(throws: StrataError.self) { _ = try sequencer.entries(after: 3, waitingMilliseconds: 0) }
        #expect(try sequencer.entries(after: 4, waitingMilliseconds: 0).count == 6)
        #expect(try self.sequencer().last() == 10)
        #expect(try sequencer.trim(through: 100) == 10)
        #expect(number(sequencer.append([1], id: Self.id, expecting: 10)) == 11)
        try disk.removeFile(Self.path + "/00000000000000000000/00000000000000000011")
        #expect(try sequencer.last() == 10)
    }

    @Test("A trim removes what an interrupted one left, and drafts of writers that ended long ago")
    func leftovers() throws {
        let clock = ManualTime(microseconds: 1_700_000_000_000_000)
        disk.time = clock
        let sequencer = try DirectorySequencer(at: Self.path, platform: Platform(files: disk, time: clock))
        for number in 0..<10 as Range<UInt64> { _ = sequencer.append([UInt8(number)], id: Self.id, expecting: number) }
        let folder = Self.path + "/00000000000000000000"
        disk.fail(.remove, from: 3, with: .errno(EIO), on: folder)
        #expect(throws: StrataError.self) { _ = try sequencer.trim(through: 6) }
        disk.heal()
        try disk.replace(Self.path + "/drafts/old", in: Self.path, with: [1])
        clock.advance(byMicroseconds: 2 * 86_400_000_000)
        try disk.replace(Self.path + "/drafts/young", in: Self.path, with: [1])
        #expect(try disk.list(folder).count == 8)
        #expect(try sequencer.trim(through: 1) == 6)
        // No loss of power brings them back.
        let survivor = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        for disk in [disk, survivor] {
            #expect(try disk.list(folder).sorted() == (7...10).map { String(format: "%020d", $0) })
        }
        #expect(try disk.list(Self.path + "/drafts") == ["young"])
    }

    @Test("Two logs in real directories write and follow at once")
    func realDirectory() async throws {
        let directory = try TestDirectory()
        let logs = try (0..<2).map { number in
            try ReplicatedLog.open(
                at: directory.path("\(number).strata"),
                sequencer: DirectorySequencer(at: directory.path("Notes.sequence")))
        }
        let commitCount = 60
        await withThrowingTaskGroup(of: Void.self) { group in
            for (index, log) in logs.enumerated() {
                group.addTask {
                    try log.follow {}
                    let random = SeededRandom(seed: UInt64(index))
                    var written = 0
                    while written < commitCount {
                        let payload = Envelope(events: [Event(.consoleActed, body: random.nextBytes(count: 30)[...])])
                        let commit = NewCommit(
                            id: random.nextIdentifier(), time: log.endTime ?? 0, payload: payload.encoded()[...])
                        do throws(AppendFailure) {
                            written += try log.append([commit], expecting: log.end).count
                        } catch {
                            // The other one was faster, or its time is later.
                            switch error {
                            case .conflict, .notWritten: continue
                            case .unknown, .tooLarge: throw error
                            }
                        }
                    }
                }
            }
        }
        #expect(try logs[0].confirmEnd() == logs[1].confirmEnd())
        #expect(logs[0].end.offset == UInt64(2 * commitCount))
        for log in logs { try log.close() }
    }

    @Test("An entry that is linked after others had its number and trimmed it is not acknowledged")
    func trimmedMeanwhile() throws {
        let (slow, fast) = (try sequencer(), try sequencer())
        for number in 0..<5 as Range<UInt64> { _ = fast.append([1], id: Self.id, expecting: number) }
        let hasTrimmed = Lock(false)
        disk.beforeCall = { [disk] kind, path in
            // The link of the slow writer's entry.
            guard kind == .rename, path.hasSuffix("/00000000000000000006"), !hasTrimmed.withLock({ $0 }) else { return }
            disk.beforeCall = nil
            hasTrimmed.withLock { $0 = true }
            for number in 5..<20 as Range<UInt64> { _ = fast.append([2], id: Self.id, expecting: number) }
            _ = try? fast.trim(through: 18)
        }
        #expect(isTaken(slow.append([3], id: Self.id, expecting: 5)))
        #expect(hasTrimmed.withLock { $0 })
        #expect(try slow.last() == 20 && slow.entries(after: 18, waitingMilliseconds: 0) == [[2], [2]])
        #expect(throws: StrataError.self) { try slow.entries(after: 5, waitingMilliseconds: 0) }
    }

    @Test("The last number is right although a trim removes what it is looked for by")
    func lastDuringTrim() throws {
        let (reader, writer) = (try sequencer(), try sequencer())
        for number in 0..<20 as Range<UInt64> { _ = writer.append([1], id: Self.id, expecting: number) }
        disk.beforeCall = { [disk] _, path in
            guard path.hasSuffix("/00000000000000000001") else { return }
            disk.beforeCall = nil
            _ = try? writer.trim(through: 18)
        }
        #expect(try reader.last() == 20)
    }

    @Test("Two processes do not trim at once")
    func trimming() throws {
        let (left, right) = (try sequencer(), try sequencer())
        for number in 0..<20 as Range<UInt64> { _ = left.append([1], id: Self.id, expecting: number) }
        let second = Lock(StrataError.Code?.none)
        disk.beforeCall = { [disk] _, path in
            guard path.contains("FLOOR") else { return }
            disk.beforeCall = nil
            do { _ = try right.trim(through: 10) } catch {
                second.withLock { $0 = (error as? StrataError)?.code }
            }
        }
        #expect(try left.trim(through: 15) == 15)
        #expect(second.withLock { $0 } == .locked)
        #expect(try right.trim(through: 10) == 15)
    }
}
