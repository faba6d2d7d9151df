import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// Commits at random paces, in small segments, and prints offset and chain value of each once it is acknowledged, until
/// it is killed.
///
/// `last` makes it end by itself, after a few commits: the last one has the operation id that followers end with.
struct PacedWriter {
    static let lastOperation = "last"
    private static let commitsBeforeLast = 20

    private let store: String
    private let isLast: Bool
    private let random: SeededRandom

    init(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count >= 2, let seed = UInt64(words[1]) else { fail("usage: crash-child write STORE SEED [last]") }
        (store, random, isLast) = (words[0], SeededRandom(seed: seed), words.dropFirst(2).first == "last")
    }

    func run() throws {
        let log = try SegmentedLog.open(
            at: store,
            options: LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 16 << 10))
        var count = 0
        while !isLast || count < Self.commitsBeforeLast {
            count += try append(1 + random.next(below: 4), to: log)
            // Mostly at once, so that segments are switched often; now and then after the followers have gone to sleep.
            if random.next(below: 8) == 0 { usleep(useconds_t(random.next(below: 12_000))) }
        }
        let envelope = Envelope(
            header: EnvelopeHeader(operationID: Self.lastOperation), events: [Event(.fetched, body: [0])])
        _ = try append([envelope.encoded()], to: log)
        try log.close()
    }

    private func append(_ count: UInt64, to log: SegmentedLog) throws -> Int {
        let payloads = (0..<count).map { _ in
            let body = random.nextBytes(count: Int(random.next(below: 8_000)))
            return Envelope(events: [Event(.fetched, body: body[...])]).encoded()
        }
        // Some of them are lazy: written, and not synced before the next ones.
        return try append(payloads, isLazy: random.next(below: 4) == 0, to: log)
    }

    private func append(_ payloads: [[UInt8]], isLazy: Bool = false, to log: SegmentedLog) throws -> Int {
        let time = max(SystemTime().nowMicroseconds(), log.endTime ?? 0)
        let commits = payloads.map { NewCommit(id: random.nextIdentifier(), time: time, payload: $0[...]) }
        let appended =
            isLazy
            ? try log.appendLazily(commits, expecting: log.end) : try log.append(commits, expecting: log.end)
        for position in appended.positions where !isLazy { say("\(position.offset) \(position.chain)") }
        return appended.count
    }
}
