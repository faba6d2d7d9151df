import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// Something at which going through a history stops, and how the commits that may be meant are come by.
struct StopPoint {
    enum Way {
        /// These offsets, in ascending order.
        case listed([UInt64])
        /// What the change lists of these zones tell of a record in them, or of all that is in them.
        case touched(zones: [UInt64], record: [UInt8]?)
        /// All commits are looked at.
        case scanned
    }

    let way: Way
    /// Deletions of the zones count too, which end their records without saying so.
    var zonesThatEnd: [UInt64] = []
    /// Nil if being come by is enough.
    let fits: ((Commit) throws -> Bool)?
}

/// Reads single commits, those that stand close together in one go.
struct StopReads {
    /// So many offsets are rather passed over than jumped over.
    private static let nearOffsets: UInt64 = 32

    private let log: any EventLog
    private var cursor: (any CommitCursor)?
    private var lastOffset: UInt64?

    init(_ log: any EventLog) { self.log = log }

    mutating func commit(at offset: UInt64) throws -> Commit? {
        let isNear = lastOffset.map { $0 < offset && offset - $0 <= Self.nearOffsets } ?? false
        lastOffset = offset
        guard isNear else {
            cursor = nil
            return try log.commit(at: offset)
        }
        if cursor == nil { cursor = try log.read(from: offset) }
        while let commit = try cursor?.next() {
            if commit.offset >= offset { return commit.offset == offset ? commit : nil }
        }
        return nil
    }
}
