import StrataModel

/// One entry of a zone's change list.
package struct ZoneTouch: Sendable, Equatable {
    package var offset: UInt64
    package var eventIndex: UInt32
    package var kind: Touch.Kind
    package var type: UInt64
    /// The record's name; empty for a zone.
    package var key: [UInt8]

    func isOf(record name: [UInt8]) -> Bool {
        kind.isOfRecord && key == name
    }

    package init(offset: UInt64, eventIndex: UInt32, kind: Touch.Kind, type: UInt64, key: [UInt8]) {
        self.offset = offset
        self.eventIndex = eventIndex
        self.kind = kind
        self.type = type
        self.key = key
    }
}

/// Some entries of a zone's change list, in order.
package struct TouchPage: Sendable, Equatable {
    package var touches: [ZoneTouch]
    /// All touches of the zone up to this offset have been returned; the next request continues from here.
    package var readThrough: UInt64
    /// True if more may follow.
    package var moreComing: Bool

    /// The number of entries that are read at a time where only some entries of a zone are wanted.
    static let pieceCount = 4_096

    package init(touches: [ZoneTouch], readThrough: UInt64, moreComing: Bool) {
        self.touches = touches
        self.readThrough = readThrough
        self.moreComing = moreComing
    }
}

/// The place where the last entries of a record begin.
package struct LastTouches: Sendable, Equatable {
    /// The commit of the first entry; after the requested range if there is none.
    package var first: UInt64
    /// The number of entries from that commit on.
    package var count: Int

    package init(first: UInt64, count: Int) {
        self.first = first
        self.count = count
    }
}

extension Touch.Kind {
    var isOfRecord: Bool { self == .recordSaved || self == .recordDeleted }
}
