import StrataModel

/// The records that began and ceased to match the predicate with one commit.
struct BisectionChange {
    typealias Cause = (event: UInt32, record: RecordKey)

    let offset: UInt64
    /// The number of matching records before the commit and after it.
    let before: Int
    private(set) var after: Int
    /// The first gain and the last loss; the first record by name of those that a deleted zone ended.
    private(set) var gain: Cause?
    private(set) var loss: Cause?

    var hasGains: Bool { gain != nil }
    /// True if the predicate begins or ceases to hold.
    var isFlip: Bool { (before > 0) != (after > 0) }

    init(at offset: UInt64, from count: Int) { (self.offset, before, after) = (offset, count, count) }

    mutating func add(_ zone: UInt64, _ name: [UInt8], by event: UInt32) {
        after += 1
        if let gain, gain.event <= event { return }
        gain = (event, RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self)))
    }

    mutating func remove(_ zone: UInt64, _ name: [UInt8], by event: UInt32, count: Int = 1) {
        after -= count
        if let loss, loss.event > event || loss.event == event && loss.record.name.utf8.lexicographicallyPrecedes(name)
        {
            return
        }
        loss = (event, RecordKey(zone: zone, name: String(decoding: name, as: UTF8.self)))
    }
}
