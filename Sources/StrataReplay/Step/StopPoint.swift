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
