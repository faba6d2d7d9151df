import StrataModel

/// The commits that touched some zones, or the records of one name in them, in order, from the change lists of a log.
///
/// ```swift
/// var commits = TouchedCommits(.record("note-1", zones: [7]), of: log, after: 0, through: log.end.offset)
/// while let commit = try commits.next() { print(commit.offset) }
/// ```
package struct TouchedCommits {
    package enum Subject: Sendable {
        case zones([UInt64])
        /// A record of that name in any of the zones.
        case record(String, zones: [UInt64])

        var zones: [UInt64] {
            switch self {
            case .zones(let zones), .record(_, let zones): zones
            }
        }
    }

    /// A commit with entries in the lists.
    package struct Touched: Sendable {
        package let offset: UInt64
        /// The event of the first entry.
        package let eventIndex: UInt32
        /// The number of entries.
        package let count: Int
    }

    /// The maximum number of entries of each list held at a time.
    private static let pageCount = 1_024

    /// The list of one zone, as far as it has been read.
    private struct List {
        let zone: UInt64
        var touches: ArraySlice<ZoneTouch> = []
        var readThrough: UInt64
        var moreComing = true
    }

    private let log: any HistoryLog
    private let name: [UInt8]?
    private let kind: Touch.Kind?
    private let last: UInt64
    private var lists: [List]
    /// Called before each read of a list, with the offset after which it reads.
    package var willRead: ((_ offset: UInt64) throws -> Void)?

    /// - Parameters:
    ///   - kind: the only kind of entries that counts; nil for all.
    ///   - last: the last offset to consider.
    package init(
        _ subject: Subject, kind: Touch.Kind? = nil, of log: any HistoryLog, after offset: UInt64, through last: UInt64
    ) {
        if case .record(let name, _) = subject { self.name = Array(name.utf8) } else { name = nil }
        (self.log, self.kind, self.last) = (log, kind, last)
        lists = subject.zones.map { List(zone: $0, readThrough: offset) }
    }

    /// Returns the next commit; nil after the last one.
    package mutating func next() throws -> Touched? {
        for index in lists.indices { try fill(&lists[index]) }
        guard let first = lists.compactMap(\.touches.first).min(by: { $0.offset < $1.offset }), first.offset <= last
        else { return nil }
        var count = 0
        for index in lists.indices {
            let others = lists[index].touches.drop { $0.offset == first.offset }
            count += lists[index].touches.count - others.count
            lists[index].touches = others
        }
        return Touched(offset: first.offset, eventIndex: first.eventIndex, count: count)
    }

    private func fill(_ list: inout List) throws {
        while list.touches.isEmpty, list.moreComing, list.readThrough < last {
            try willRead?(list.readThrough)
            let page: TouchPage
            if let name {
                page = try log.touches(record: name, in: list.zone, after: list.readThrough, limit: Self.pageCount)
            } else {
                page = try log.touches(zone: list.zone, after: list.readThrough, limit: Self.pageCount)
            }
            (list.readThrough, list.moreComing) = (page.readThrough, page.moreComing)
            list.touches = kind.map { kind in page.touches.filter { $0.kind == kind }[...] } ?? page.touches[...]
        }
    }
}

/// The commits of ``TouchedCommits``, newest first. The lists are read one window of offsets at a time.
package struct ReversedTouches {
    private static let firstWidth: UInt64 = 1_024
    /// A window of zones widens while it has fewer commits than this range, and narrows when it has more.
    private static let wantedCount = 256...4_096

    private let subject: TouchedCommits.Subject
    private let kind: Touch.Kind?
    private let log: any HistoryLog
    private let floor: UInt64
    /// The last offset of the next window.
    private var upper: UInt64
    private var width = firstWidth
    /// The number of entries of a record in the next window, which grows: finding them reads more of the list.
    private var recordEntries = 64
    /// The offsets of a window that are left, in ascending order.
    private var window: [UInt64] = []
    /// Called before each read of a window, with its last offset.
    package var willRead: ((_ offset: UInt64) throws -> Void)?

    /// - Parameter floor: the offset after which commits count.
    package init(
        _ subject: TouchedCommits.Subject, kind: Touch.Kind? = nil, of log: any HistoryLog, after floor: UInt64,
        through last: UInt64
    ) {
        (self.subject, self.kind, self.log, self.floor, upper) = (subject, kind, log, floor, last)
    }

    /// Returns the offset of the previous commit; nil before the first one.
    package mutating func next() throws -> UInt64? {
        while window.isEmpty, upper > floor {
            try willRead?(upper)
            let lower = try beginning()
            var commits = TouchedCommits(subject, kind: kind, of: log, after: lower, through: upper)
            while let commit = try commits.next() { window.append(commit.offset) }
            upper = lower
            recordEntries = min(recordEntries * 2, Self.wantedCount.upperBound)
            if window.count < Self.wantedCount.lowerBound {
                width = min(width * 4, UInt64.max / 8)
            } else if window.count > Self.wantedCount.upperBound {
                width = max(width / 2, Self.firstWidth)
            }
        }
        return window.popLast()
    }

    /// Returns the offset before the next window.
    private func beginning() throws -> UInt64 {
        guard case .record(let name, let zones) = subject else { return upper - min(width, upper - floor) }
        var first = floor + 1
        for zone in zones {
            let last = try log.lastTouches(
                record: Array(name.utf8), in: zone, through: upper, limit: recordEntries)
            if last.count > 0 { first = max(first, last.first) }
        }
        return first - 1
    }
}

extension HistoryLog {
    /// Returns the first event after an offset, and up to another one, that deleted a zone; nil if there is none.
    package func zoneDeletion(of zone: UInt64, after offset: UInt64, through last: UInt64) throws -> Version? {
        var deletions = TouchedCommits(.zones([zone]), kind: .zoneDeleted, of: self, after: offset, through: last)
        return try deletions.next().map { Version(offset: $0.offset, eventIndex: $0.eventIndex) }
    }
}
