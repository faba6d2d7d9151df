import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

/// Copies of one store on one disk, on a sequencer there, and with a directory that all share.
final class SharedCopies {
    static let sequence = "/Notes.sequence"
    static let files = sequence + "/files"
    static let day: Int64 = 86_400_000_000

    let disk: SimulatedDisk
    let clock = ManualTime(microseconds: 1_700_000_000_000_000)
    private let random: SeededRandom

    init(on disk: SimulatedDisk = SimulatedDisk(), seed: UInt64 = 5) {
        self.disk = disk
        random = SeededRandom(seed: seed)
    }

    var platform: Platform { Platform(files: disk, time: clock) }
    var sequencer: DirectorySequencer { get throws { try DirectorySequencer(at: Self.sequence, platform: platform) } }

    func open(
        _ name: String, sharing: Bool = true, notes: Bool = true, terms: String = "schema open",
        milliseconds: Int = 60_000
    ) throws -> ReplicatedLog {
        let log = try ReplicatedLog.open(
            at: "/\(name)", sequencer: sequencer,
            options: .init(
                outcomeMilliseconds: milliseconds, terms: terms, filesDirectory: sharing ? Self.files : nil,
                notesProgress: notes),
            log: LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform)
        try disk.makeDirectory(Self.files)
        if try !disk.exists(Self.files + "/OWNER") {
            try disk.replace(Self.files + "/OWNER", in: Self.files, with: Array(log.identity.storeID.description.utf8))
        }
        return log
    }

    /// Appends entries of two commits at the present end.
    func append(_ count: Int, to log: ReplicatedLog) throws {
        for _ in 0..<count {
            _ = try log.append([commit(), commit()], expecting: try log.confirmEnd())
        }
    }

    private func commit() -> NewCommit {
        let payload = Envelope(events: [Event(.consoleActed, body: random.nextBytes(count: 40)[...])]).encoded()
        return NewCommit(id: random.nextIdentifier(), time: 1_000, payload: payload[...])
    }

    // MARK: Trimming

    enum Step: CaseIterable { case published, marked, finished }

    /// Trims the sequencer to a base that a copy makes, or stops after a step of it.
    ///
    /// - Parameter lost: a commit that the base does not mention.
    @discardableResult
    func trim(
        _ log: ReplicatedLog, before offset: UInt64, through step: Step = .finished, ignoresCopies: Bool = false,
        lacking lost: UInt64? = nil
    ) throws -> BaseMark {
        let trim = try SequencerTrim(of: sequencer, with: log, before: offset, ignoresCopies: ignoresCopies)
        try log.sync()
        let draft = try Self.base(of: log, at: trim.horizon.offset, lacking: lost)
        let mark = try trim.publish(try draft.read())
        try draft.remove()
        if step == .published { return mark }
        try trim.append(mark)
        if step == .finished { try #require(try trim.finish(mark) == mark.number) }
        return mark
    }

    /// Returns a base that only says which commits it replaces.
    private static func base(of log: ReplicatedLog, at offset: UInt64, lacking lost: UInt64?) throws -> BaseDraft {
        var next: UInt64 = 1
        return try log.copy.writeBase(at: offset) {
            if next == lost { next += 1 }
            guard next <= offset else { return nil }
            defer { next += 1 }
            return Array("commit \(next)".utf8)[...]
        }
    }

    /// Returns what is wrong with a copy: it must have the state of all commits, and those of another copy.
    static func difference(_ log: ReplicatedLog, from other: ReplicatedLog) throws -> String? {
        guard try log.confirmEnd() == other.confirmEnd() else { return "\(log.end) is not \(other.end)" }
        let floor = log.floor.offset
        if floor > 0 {
            var (base, count) = (try log.readBase(), 0 as UInt64)
            while let payload = try base?.next() {
                count += 1
                if payload != Array("commit \(count)".utf8)[...] { return "payload \(count) of the base differs" }
            }
            if count != floor { return "the base has \(count) of \(floor) commits" }
            if try !other.copy.has(log.floor) { return "\(log.floor) is no position of the other copy" }
        }
        guard floor < other.end.offset else { return nil }
        let comparison = try HistoryComparison(log.copy, other.copy)
        return comparison.difference.map { "commit \($0) differs" }
    }

    /// The file of a base and that of its mark.
    func paths(of mark: BaseMark) -> (base: String, mark: String) {
        let path = SharedBases(in: Self.files, disk).path(of: mark)
        return (path, path + ".mark")
    }

    var bases: [String] { get throws { try disk.list(Self.files + "/bases").sorted() } }
}
