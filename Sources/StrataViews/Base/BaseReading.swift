import StrataModel
import StrataTree

/// The payloads of a base one after the other, and what has been seen of them.
final class BaseReading {
    /// What the events of a payload state; all of them the same.
    enum Content {
        case records, others, marker
    }

    /// Of the marker's payload, all in front of it.
    private(set) var count: UInt64 = 0
    private(set) var hash: UInt128 = 0
    /// The present payload; nil behind the last.
    private(set) var payload: ArraySlice<UInt8>?
    private let horizon: Position
    private let source: () throws -> ArraySlice<UInt8>?
    private var lastRank = 0

    /// - Parameter source: gives the next payload; nil behind the last.
    init(_ horizon: Position, _ source: @escaping () throws -> ArraySlice<UInt8>?) throws {
        self.horizon = horizon
        self.source = source
        payload = try source()
    }

    func advance() throws {
        guard let last = payload else { return }
        hash = last.withUnsafeBytes { DigestHash.hash(hash, $0) }
        count += 1
        payload = try source()
    }

    /// Has errors of the present payload say which one it is.
    func locating<Result>(_ body: () throws -> Result) throws -> Result {
        // A damaged page of the trees is not the base's fault.
        do { return try body() } catch let error as StrataError where error.context.page == nil {
            let place = StrataError.Context(
                segment: error.context.segment, offset: horizon.offset, found: "payload \(count + 1)")
            throw StrataError(error.code, "A base cannot be folded.", place, cause: error)
        }
    }

    /// What the present payload states, by its first event; nil behind the last one.
    func content() throws -> Content? {
        try payload?.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            switch try walker.next()?.kind {
            case .recordSaved: return .records
            case .baseMarker: return .marker
            default: return .others
            }
        }
    }

    /// Calls `body` with each event of the present payload.
    func forEachEvent(_ body: (EventKind, UnsafeRawBufferPointer, EventPlace) throws -> Void) throws {
        try payload?.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            guard try walker.header() == EnvelopeHeader() else {
                throw StrataError(.malformed, "A payload of a base names who made it.")
            }
            var index: UInt32 = 0
            while let event = try walker.next() {
                try checkOrder(of: event.kind)
                let version = Version(offset: horizon.offset, eventIndex: index)
                try body(
                    event.kind, UnsafeRawBufferPointer(rebasing: bytes[event.body]),
                    EventPlace(version: version, time: 0, user: 0))
                index += 1
            }
        }
    }

    /// In what order a base has its events (docs/compaction.md §2).
    static let ranks: [EventKind: Int] = [
        .nameInterned: 1, .databaseCreated: 2, .userChanged: 3, .deviceSeen: 4, .schemaChanged: 5, .zoneSaved: 6,
        .zoneDeleted: 6, .subscriptionSaved: 7, .subscriptionDeleted: 7, .clientTokenKept: 8, .tokensExpired: 9,
        .notificationDelivered: 10, .recordSaved: 11, .baseMarker: 12,
    ]

    private func checkOrder(of kind: EventKind) throws {
        guard let rank = Self.ranks[kind], rank >= lastRank else {
            throw StrataError(.brokenSequence, "A base has an event that has no place there.", .init(found: "\(kind)"))
        }
        lastRank = rank
    }
}
