import StrataModel
import TestSupport

/// Valid commits of several users and devices, the same for the same seed whatever ordinals their names have.
///
/// It knows the version that each record and zone has, so that its events are those that rules would have decided.
///
/// ```swift
/// var history = SampleHistory(seed: 7)
/// let envelope = try history.next(at: log.end.offset + 1)
/// history.accept(offset)
/// ```
struct SampleHistory {
    /// When names get their ordinals.
    enum Interning {
        case onUse
        /// All in the first commit, in an order that the seed decides.
        case ahead(seed: UInt64)
    }

    /// A version whose offset may not be known yet.
    struct Stamp {
        var commit: Int
        var index: UInt32
    }

    struct RecordLife {
        var version: Stamp
        var type: Int
        var eventsSinceFull = 0
    }

    struct Place: Hashable {
        var zone: Int
        var record: Int
    }

    struct SubscriptionPlace: Hashable {
        var database: Int
        var user: Int
        /// A number, since Swift takes some ids for the same that are not.
        var id: Int
    }

    var generator: SeededGenerator
    var values: SampleRecords
    var names = HistoryNames()
    /// Living zones by the beginning of their lives.
    var zones: [Int: Stamp] = [:]
    var records: [Place: RecordLife] = [:]
    var subscriptions: Set<SubscriptionPlace> = []
    /// The shares by number, from 1: the index of their zone, and whether they have ended.
    var shares: [(zone: Int, isEnded: Bool)] = []
    /// Of the commits that were accepted.
    private var offsets: [UInt64] = []
    /// Of the commit in the making; nil while the log has not said it.
    private var offset: UInt64?
    var envelope = Envelope()
    private(set) var time: Int64 = 1_767_225_600_000_000
    private let interning: Interning

    init(seed: UInt64, interning: Interning = .onUse) {
        generator = SeededGenerator(seed: seed)
        values = SampleRecords(seed: seed &+ 1)
        self.interning = interning
    }

    /// The next commit.
    ///
    /// - Parameter offset: where it will be; nil if that is not known, so that nothing in it can name its versions.
    mutating func next(at offset: UInt64?) throws -> Envelope {
        self.offset = offset
        time += Int64(generator.next(below: 5_000))
        envelope = Envelope()
        if offsets.isEmpty, case .ahead(let seed) = interning { names.internAll(seed: seed) }
        let user = generator.next(below: HistoryNames.userCount + 1)
        if user < HistoryNames.userCount {
            envelope.header.user = names.ordinal(.user(user))
            let device = generator.next(below: HistoryNames.devicesPerUser + 1)
            if device < HistoryNames.devicesPerUser {
                envelope.header.device = names.ordinal(.device(user: user, device))
            }
        }
        for _ in 0..<1 + generator.next(below: 14) { try appendAny() }
        try appendSecret()
        try appendRules()
        try nameUserRecord()
        envelope.events += names.takePending()
        if envelope.events.isEmpty { envelope.events = [Event(.consoleActed, body: [1, 2, 3])] }
        return envelope
    }

    /// Says where the log put the commit that `next` made.
    mutating func accept(_ offset: UInt64) { offsets.append(offset) }

    /// Appends an event behind the names that it uses; returns its version.
    mutating func append(_ event: Event) -> Stamp {
        envelope.events += names.takePending()
        envelope.events.append(event)
        return Stamp(commit: offsets.count, index: UInt32(envelope.events.count - 1))
    }

    /// Nil for a version of this commit if its offset is not known.
    func version(_ stamp: Stamp) -> Version? {
        let offset = stamp.commit < offsets.count ? offsets[stamp.commit] : offset
        return offset.map { Version(offset: $0, eventIndex: stamp.index) }
    }

    mutating func chance(_ percent: Int) -> Bool { generator.next(below: 100) < percent }

    /// Appends the store's secret to the first commit, and others later.
    private mutating func appendSecret() throws {
        guard offsets.count.isMultiple(of: 30) else { return }
        var random = SeededGenerator(seed: UInt64(offsets.count))
        let secret = random.nextBytes(SecretDrawnEvent.byteCount)
        _ = append(try SecretDrawnEvent(number: UInt64(offsets.count / 30 + 1), secret: secret).event())
    }

    /// Appends rules that change from time to time.
    private mutating func appendRules() throws {
        guard offsets.count % 40 == 3 else { return }
        let items = UInt64(offsets.count)
        _ = append(
            try RulesStatedEvent(
                .init(
                    itemsPerRequest: items, requestBytes: 1, recordBytes: 2, owningReferences: 3, movedRecords: 4,
                    assetBytes: 5), [.touchesParents]
            ).event())
    }

    /// Names the records of few users, once each.
    private mutating func nameUserRecord() throws {
        guard offsets.count % 10 == 5, offsets.count / 10 < HistoryNames.userCount - 1 else { return }
        let user = offsets.count / 10
        let event = UserRecordNamedEvent(user: names.ordinal(.user(user)), recordName: "_record of \(user)")
        _ = append(try event.event())
    }

    private mutating func appendAny() throws {
        switch generator.next(below: 100) {
        case 0..<6: try appendZoneEvent()
        case 6..<18: try appendOther()
        case 18..<20: _ = append(Event(.requestRefused, body: [0xFF]))
        default: try appendRecordEvent()
        }
    }
}

/// A commit of a sample as a log would have it.
struct SampleCommit {
    var offset: UInt64
    var time: Int64
    var payload: [UInt8]

    /// So many commits of a history; offsets have gaps on demand.
    static func all(
        _ count: Int, seed: UInt64, interning: SampleHistory.Interning = .onUse, hasGaps: Bool = false
    ) throws -> [SampleCommit] {
        var history = SampleHistory(seed: seed, interning: interning)
        var gaps = SeededGenerator(seed: seed &+ 2)
        var offset: UInt64 = 0
        return try (0..<count).map { _ in
            offset += 1 + (hasGaps ? UInt64(gaps.next(below: 3) * gaps.next(below: 200)) : 0)
            let payload = try history.next(at: offset).encoded()
            history.accept(offset)
            return SampleCommit(offset: offset, time: history.time, payload: payload)
        }
    }
}
