import StrataModel
import StrataTree

/// Reads the payloads of a base one after the other, with their number and hash.
final class BaseReading {
    /// The kind of the events in a payload; no payload mixes kinds.
    enum Content {
        case records, others, marker
    }

    /// The number of payloads before the current one, and their hash.
    private(set) var count: UInt64 = 0
    private(set) var hash: UInt128 = 0
    /// The current payload; nil after the last.
    private(set) var payload: ArraySlice<UInt8>?
    private let horizon: Position
    private let source: () throws -> ArraySlice<UInt8>?
    private var lastRank = 0

    /// - Parameter source: returns the next payload; nil after the last.
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

    /// Adds the number of the current payload to errors that `body` throws.
    func locating<Result>(_ body: () throws -> Result) throws -> Result {
        // A damaged frame of the trees is not an error in the base.
        do { return try body() } catch let error as StrataError where error.context.page == nil {
            let place = StrataError.Context(
                segment: error.context.segment, offset: horizon.offset, found: "payload \(count + 1)")
            throw StrataError(error.code, "A base cannot be folded.", place, cause: error)
        }
    }

    /// Returns the kind of the current payload, by its first event; nil after the last payload.
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

    /// Calls `body` with each event of the current payload.
    func forEachEvent(_ body: (EventKind, UnsafeRawBufferPointer, EventPlace) throws -> Void) throws {
        try payload?.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            guard try walker.header() == EnvelopeHeader() else {
                throw StrataError(.malformed, "A payload of a base has an envelope header that is not empty.")
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

    /// The order of events in a base (docs/compaction.md §2): that of the maintainers, then records and the marker.
    static let ranks: [EventKind: Int] = {
        let stated = ViewTree.maintainers.filter { $0.isStated && !$0.kinds.isEmpty }.map { $0.kinds }
        let ranked = (stated + [[.recordSaved], [.baseMarker]]).enumerated()
        return Dictionary(uniqueKeysWithValues: ranked.flatMap { rank, kinds in kinds.map { ($0, rank + 1) } })
    }()

    private func checkOrder(of kind: EventKind) throws {
        guard EventKind.known.contains(where: { $0.kind == kind }) else {
            throw StrataError(
                .newerFormat, "A base has an event of a kind unknown to this version.",
                .init(found: "event \(kind.rawValue)"))
        }
        guard let rank = Self.ranks[kind], rank >= lastRank else {
            throw StrataError(
                .brokenSequence, "A base has an event of the wrong kind or out of order.", .init(found: "\(kind)"))
        }
        lastRank = rank
    }
}
