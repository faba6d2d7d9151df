import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Called repeatedly while commits are read, with the current offset; returning false ends the search.
public typealias StepperPulse = @Sendable (_ offset: UInt64) -> Bool

/// Thrown if the pulse ends a search.
struct StepperInterruption: Error {
    /// No stop was missed up to this offset; nil for the offset where the search began.
    var offset: UInt64?
}

/// Finds the nearest commit at which one of several points stops, in both directions.
struct StopSearch {
    /// The number of offsets read between two calls of the pulse.
    private static let pulseOffsets: UInt64 = 1_024

    let store: Store
    let floor: UInt64
    let end: UInt64
    let points: [StopPoint]
    let pulse: StepperPulse
    private var log: any EventLog { store.log }

    private func ask(_ offset: UInt64, reached: UInt64?) throws {
        if !pulse(offset) { throw StepperInterruption(offset: reached) }
    }

    // MARK: Forwards

    /// - Throws: ``StepperInterruption`` if the pulse ends the search.
    func next(after offset: UInt64) throws -> UInt64? {
        // The offset after the last commit worth reading.
        var limit = end + 1
        for point in points {
            if let found = try next(point, after: offset, before: limit) { limit = found }
        }
        let scanned = points.filter { if case .scanned = $0.way { true } else { false } }
        guard !scanned.isEmpty, offset + 1 < limit else { return limit <= end ? limit : nil }
        var cursor = try log.read(from: offset + 1)
        var asked = offset
        while let commit = try cursor.next(), commit.offset < limit {
            if commit.offset - asked >= Self.pulseOffsets {
                asked = commit.offset
                try ask(asked, reached: asked - 1)
            }
            for point in scanned where try point.fits?(commit) ?? true { return commit.offset }
        }
        return limit <= end ? limit : nil
    }

    private func next(_ point: StopPoint, after offset: UInt64, before limit: UInt64) throws -> UInt64? {
        var reads = CommitReads(log)
        func isWanted(_ candidate: UInt64) throws -> Bool {
            guard let fits = point.fits else { return true }
            return try reads.commit(at: candidate).map(fits) ?? false
        }
        switch point.way {
        case .scanned: return nil
        case .listed(let offsets):
            let candidates = offsets[offsets.endOfPrefix { $0 <= offset }...].prefix { $0 < limit }
            return try candidates.first(where: isWanted)
        case .touched(let lists):
            var found: UInt64?
            for list in lists {
                let last = min(found ?? limit, limit, try end(of: list).map { $0 + 1 } ?? limit) - 1
                var commits = TouchedCommits(list.subject, kind: list.kind, of: log, after: offset, through: last)
                commits.willRead = { try ask($0, reached: nil) }
                while let candidate = try commits.next()?.offset {
                    guard try isWanted(candidate) else { continue }
                    found = candidate
                    break
                }
            }
            return found
        }
    }

    // MARK: Backwards

    /// - Throws: ``StepperInterruption`` if the pulse ends the search.
    func previous(before offset: UInt64) throws -> UInt64? {
        guard offset > floor + 1 else { return nil }
        // The offset before the first commit worth reading.
        var limit = floor
        for point in points {
            if let found = try previous(point, before: offset, after: limit) { limit = found }
        }
        let scanned = points.filter { if case .scanned = $0.way { true } else { false } }
        var upper = offset - 1
        while !scanned.isEmpty, upper > limit {
            let lower = upper - min(Self.pulseOffsets, upper - limit) + 1
            var last: UInt64?
            var cursor = try log.read(from: lower)
            while let commit = try cursor.next(), commit.offset <= upper {
                if try scanned.contains(where: { try $0.fits?(commit) ?? true }) { last = commit.offset }
                if commit.offset == upper { break }
            }
            if let last { return last }
            upper = lower - 1
            try ask(upper, reached: lower)
        }
        return limit > floor ? limit : nil
    }

    private func previous(_ point: StopPoint, before offset: UInt64, after limit: UInt64) throws -> UInt64? {
        func isWanted(_ candidate: UInt64) throws -> Bool {
            guard let fits = point.fits else { return true }
            return try log.commit(at: candidate).map(fits) ?? false
        }
        switch point.way {
        case .scanned: return nil
        case .listed(let offsets):
            let earlier = offsets[..<offsets.endOfPrefix { $0 < offset }]
            return try earlier.reversed().prefix { $0 > limit }.first(where: isWanted)
        case .touched(let lists):
            var found: UInt64?
            for list in lists {
                let last = min(offset - 1, try end(of: list) ?? offset)
                var commits = ReversedTouches(
                    list.subject, kind: list.kind, of: log, after: found ?? limit, through: last)
                commits.willRead = { try ask($0, reached: nil) }
                while let candidate = try commits.next() {
                    guard try isWanted(candidate) else { continue }
                    found = candidate
                    break
                }
            }
            return found
        }
    }

    /// Returns the last offset that a list of zone deletions can have: if the zone exists, any deletion is earlier than
    /// its current life.
    private func end(of list: StopPoint.List) throws -> UInt64? {
        guard list.kind == .zoneDeleted, case .zones(let zones) = list.subject else { return nil }
        let ends = try zones.map { try store.past.lastDeletion(ofZone: $0) ?? end }
        return ends.max()
    }
}
