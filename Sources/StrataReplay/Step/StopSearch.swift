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
    /// The number of change list entries read at a time.
    private static let pageCount = 1_024
    /// Backwards, a list is read one window of offsets at a time; the window grows while it has few entries.
    private static let firstWindow: UInt64 = 1_024

    let store: Store
    let floor: UInt64
    let end: UInt64
    let points: [StopPoint]
    let pulse: StepperPulse
    private let log: any EventLog

    init(
        _ store: Store, floor: UInt64, end: UInt64, _ points: [StopPoint], _ pulse: @escaping StepperPulse
    ) {
        (self.store, self.floor, self.end, self.points, self.pulse) = (store, floor, end, points, pulse)
        log = store.log
    }

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
            guard let commit = try reads.commit(at: candidate) else { return false }
            return try fits(commit)
        }
        var found = try zoneEnd(point.zonesThatEnd, after: offset, before: limit, isWanted)
        switch point.way {
        case .scanned: break
        case .listed(let offsets):
            var place = Self.place(in: offsets, after: offset)
            while place < offsets.count, offsets[place] < min(limit, found ?? limit) {
                if try isWanted(offsets[place]) { return offsets[place] }
                place += 1
            }
        case .touched(let zones, let record):
            for zone in zones {
                var (readThrough, moreComing) = (offset, true)
                search: while moreComing, readThrough + 1 < min(limit, found ?? limit) {
                    try ask(readThrough, reached: nil)
                    let page = try touches(zone, record, after: readThrough)
                    var last = readThrough
                    for touch in page.touches where touch.offset > last {
                        guard touch.offset < min(limit, found ?? limit) else { break search }
                        last = touch.offset
                        if try isWanted(last) {
                            found = last
                            break search
                        }
                    }
                    (readThrough, moreComing) = (page.readThrough, page.moreComing)
                }
            }
        }
        return found
    }

    private func touches(_ zone: UInt64, _ record: [UInt8]?, after offset: UInt64) throws -> TouchPage {
        guard let record else { return try log.touches(zone: zone, after: offset, limit: Self.pageCount) }
        return try log.touches(record: record, in: zone, after: offset, limit: Self.pageCount)
    }

    /// Returns the index of the first offset after another.
    private static func place(in offsets: [UInt64], after offset: UInt64) -> Int {
        var (low, high) = (0, offsets.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] > offset { high = middle } else { low = middle + 1 }
        }
        return low
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
            guard let commit = try log.commit(at: candidate) else { return false }
            return try fits(commit)
        }
        var found = try zoneEnd(point.zonesThatEnd, before: offset, after: limit, isWanted)
        switch point.way {
        case .scanned: break
        case .listed(let offsets):
            var place = Self.place(in: offsets, after: offset - 1) - 1
            while place >= 0, offsets[place] > max(limit, found ?? limit) {
                if try isWanted(offsets[place]) { return offsets[place] }
                place -= 1
            }
        case .touched(let zones, let record?):
            for zone in zones {
                var upper = offset - 1
                while upper > max(limit, found ?? limit) {
                    try ask(upper, reached: nil)
                    let last = try log.lastTouches(record: record, in: zone, through: upper, limit: 1)
                    guard last.count > 0, last.first > max(limit, found ?? limit) else { break }
                    if try isWanted(last.first) {
                        found = last.first
                        break
                    }
                    upper = last.first - 1
                }
            }
        case .touched(let zones, nil):
            for zone in zones {
                let last = try lastTouch(of: zone, before: offset, after: max(limit, found ?? limit)) {
                    try isWanted($0.offset)
                }
                found = last ?? found
            }
        }
        return found
    }

    /// Returns the offset of the last wanted entry in a zone's list.
    private func lastTouch(
        of zone: UInt64, before offset: UInt64, after limit: UInt64, _ isWanted: (ZoneTouch) throws -> Bool
    ) throws -> UInt64? {
        var (upper, width) = (offset - 1, Self.firstWindow)
        while upper > limit {
            try ask(upper, reached: nil)
            let lower = upper - min(width, upper - limit)
            var touches: [ZoneTouch] = []
            var (readThrough, moreComing) = (lower, true)
            while moreComing, readThrough < upper {
                let page = try log.touches(zone: zone, after: readThrough, limit: Self.pageCount)
                touches += page.touches.prefix { $0.offset <= upper }
                (readThrough, moreComing) = (page.readThrough, page.moreComing)
            }
            for touch in touches.reversed() where try isWanted(touch) { return touch.offset }
            upper = lower
            if touches.count < Int(Self.firstWindow) { width *= 4 }
        }
        return nil
    }

    // MARK: Zone deletions

    /// Returns where the current life of a zone began, if the zone exists; any deletion is earlier.
    private func beginning(of zone: UInt64) throws -> UInt64? {
        let trees = store.snapshot().trees
        guard let database = try trees.databaseOrdinal(ofZone: zone), let row = try trees.zoneRow(database, zone),
            row.status == .alive
        else { return nil }
        return row.incarnation.offset
    }

    private func zoneEnd(
        _ zones: [UInt64], after offset: UInt64, before limit: UInt64, _ isWanted: (UInt64) throws -> Bool
    ) throws -> UInt64? {
        var found: UInt64?
        for zone in zones {
            let limit = min(limit, found ?? limit, try beginning(of: zone).map { $0 + 1 } ?? limit)
            var (readThrough, moreComing) = (offset, true)
            search: while moreComing, readThrough + 1 < limit {
                try ask(readThrough, reached: nil)
                let page = try log.touches(zone: zone, after: readThrough, limit: Self.pageCount)
                for touch in page.touches where touch.kind == .zoneDeleted {
                    guard touch.offset < limit else { break search }
                    if try isWanted(touch.offset) {
                        found = touch.offset
                        break search
                    }
                }
                (readThrough, moreComing) = (page.readThrough, page.moreComing)
            }
        }
        return found
    }

    private func zoneEnd(
        _ zones: [UInt64], before offset: UInt64, after limit: UInt64, _ isWanted: (UInt64) throws -> Bool
    ) throws -> UInt64? {
        var found: UInt64?
        for zone in zones {
            let upper = min(offset, try beginning(of: zone).map { $0 + 1 } ?? offset)
            guard upper > 0 else { continue }
            let last = try lastTouch(of: zone, before: upper, after: max(limit, found ?? limit)) {
                try $0.kind == .zoneDeleted && isWanted($0.offset)
            }
            found = last ?? found
        }
        return found
    }
}
