import StrataLog
import StrataModel

/// Iterates over the touches of one record, in order, from a log's change lists.
struct BisectionTouches {
    /// The number of entries read at a time.
    private static let pageCount = 1_024

    private let name: [UInt8]
    private let zone: UInt64
    private let log: any EventLog
    private var page: TouchPage
    private var place = 0
    /// The touch that ``next()`` returned last.
    private(set) var current: ZoneTouch?

    init(_ name: [UInt8], in zone: UInt64, of log: any EventLog) {
        (self.name, self.zone, self.log) = (name, zone, log)
        page = TouchPage(touches: [], readThrough: log.floor.offset, moreComing: true)
    }

    /// Returns the next touch; nil after the last one.
    mutating func next() throws -> ZoneTouch? {
        while place == page.touches.count, page.moreComing {
            page = try log.touches(record: name, in: zone, after: page.readThrough, limit: Self.pageCount)
            place = 0
        }
        current = place < page.touches.count ? page.touches[place] : nil
        if current != nil { place += 1 }
        return current
    }
}
