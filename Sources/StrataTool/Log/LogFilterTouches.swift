import StrataLog
import StrataModel

/// Gives the offsets of the commits that changed some zones, or a record in them, from the change lists of a log.
struct LogFilterTouches {
    enum Subject: Sendable {
        case zones([UInt64])
        /// A record of that name in any of the zones.
        case record(String, zones: [UInt64])

        var zones: [UInt64] {
            switch self {
            case .zones(let zones), .record(_, let zones): zones
            }
        }
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

    private let name: [UInt8]?
    private var lists: [List]

    init(_ subject: Subject, after offset: UInt64) {
        if case .record(let name, _) = subject { self.name = Array(name.utf8) } else { name = nil }
        lists = subject.zones.map { List(zone: $0, readThrough: offset) }
    }

    /// Returns the next offset and its number of entries; nil if there is none up to `last`.
    mutating func next(in reader: LogReader, through last: UInt64) throws -> (offset: UInt64, count: Int)? {
        for index in lists.indices { try fill(&lists[index], reader, last) }
        guard let offset = lists.compactMap(\.touches.first?.offset).min(), offset <= last else { return nil }
        var count = 0
        for index in lists.indices {
            let others = lists[index].touches.drop { $0.offset == offset }
            count += lists[index].touches.count - others.count
            lists[index].touches = others
        }
        return (offset, count)
    }

    private func fill(_ list: inout List, _ reader: LogReader, _ last: UInt64) throws {
        while list.touches.isEmpty, list.moreComing, list.readThrough < last {
            let page: TouchPage
            if let name {
                page = try reader.touches(
                    record: name, in: list.zone, after: list.readThrough, limit: Self.pageCount)
            } else {
                page = try reader.touches(zone: list.zone, after: list.readThrough, limit: Self.pageCount)
            }
            (list.touches, list.readThrough, list.moreComing) = (page.touches[...], page.readThrough, page.moreComing)
        }
    }
}
