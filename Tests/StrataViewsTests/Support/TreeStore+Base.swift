import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

extension BaseScan.Limits {
    /// So small that payloads and events are many.
    static let small = BaseScan.Limits(payloadBytes: 300, valueBytes: 60)
}

extension Snapshot {
    /// The payloads of a base of this state.
    func base(chain: UInt32 = 7, limits: BaseScan.Limits = .small) throws -> [[UInt8]] {
        var scan = try BaseScan(self, chain: chain, limits: limits)
        var payloads: [[UInt8]] = []
        while let payload = try scan.next() { payloads.append(payload) }
        return payloads
    }
}

extension TreeStore {
    /// Folds a base into this store, which is empty.
    func fold(base payloads: [[UInt8]], at horizon: Position) throws {
        let fold = Fold(try fork())
        var next = payloads.makeIterator()
        try fold.load(base: horizon, into: self) { next.next()?[...] }
        try fold.publish(to: self)
    }

    /// A store with nothing but a base.
    static func folded(base payloads: [[UInt8]], at offset: UInt64) throws -> TreeStore {
        let pages = try Views.emptyTrees()
        try pages.fold(base: payloads, at: Position(offset: offset, chain: 7))
        return pages
    }

    /// Takes out what only commits up to the horizon of a base name.
    func prune(to base: Snapshot, limit: Int = 3) throws {
        var pruning = AssetPruning(to: base)
        var hasMore = true
        while hasMore {
            let fork = try fork()
            hasMore = try pruning.advance(fork, limit: limit)
            try publish(fork)
        }
    }
}

/// What a base of a plain store may not lose: derived from the records that are there.
extension PlainStore {
    /// The tree of assets that a base gives.
    func assetsOfRecords() -> Tree {
        var rows: [ContentHash: (version: Version, size: UInt64)] = [:]
        for state in records.values {
            for field in state.fields {
                let values = if case .list(let list) = field.value { list.elements } else { [field.value] }
                for case .asset(let asset) in values {
                    if let known = rows[asset.hash], known.version > state.header.version { continue }
                    rows[asset.hash] = (state.header.version, asset.size)
                }
            }
        }
        var tree: Tree = [:]
        for (hash, row) in rows {
            var value = ByteWriter()
            value.append(row.version.packed)
            value.appendVarint(row.size)
            tree[plainBytes(hash.first) + plainBytes(hash.second)] = value.bytes
        }
        return tree
    }
}

/// A base whose payloads were changed by somebody who makes the marker fit them, but for the digests.
struct ForgedBase {
    var payloads: [[UInt8]]

    /// Takes out the first event of a kind; false if there is none.
    mutating func removeFirst(_ kind: EventKind) throws -> Bool {
        try change { events in
            guard let index = events.firstIndex(where: { $0.kind == kind }) else { return false }
            events.remove(at: index)
            return true
        }
    }

    /// Changes the events of the first payload that `body` says it has changed.
    mutating func change(_ body: (inout [Event]) throws -> Bool) throws -> Bool {
        for index in payloads.indices.dropLast() {
            var envelope = try Envelope(decoding: payloads[index][...])
            guard try body(&envelope.events) else { continue }
            if envelope.events.isEmpty { payloads.remove(at: index) } else { payloads[index] = envelope.encoded() }
            try seal()
            return true
        }
        return false
    }

    /// Makes the marker fit the payloads.
    mutating func seal() throws {
        let last = try #require(payloads.last)
        payloads.removeLast()
        var marker = try BaseMarkerEvent(decoding: Envelope(decoding: last[...]).events[0].body)
        marker.payloadCount = UInt64(payloads.count)
        marker.payloadHash = 0
        for payload in payloads {
            marker.payloadHash = payload.withUnsafeBytes { DigestHash.hash(marker.payloadHash, $0) }
        }
        payloads.append(Envelope(events: [try marker.event()]).encoded())
    }
}
