import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// A point at which stepping stops, and the way to find the commits that it may stop at.
struct StopPoint {
    enum Way {
        /// These offsets, in ascending order.
        case listed([UInt64])
        /// The entries of these zones' change lists, of one record or of all.
        case touched(zones: [UInt64], record: [UInt8]?)
        /// All commits.
        case scanned
    }

    let way: Way
    /// Zones whose deletions count too, since these end records without events of their own.
    var zonesThatEnd: [UInt64] = []
    /// Nil if every commit found this way matches.
    let fits: ((Commit) throws -> Bool)?
}
