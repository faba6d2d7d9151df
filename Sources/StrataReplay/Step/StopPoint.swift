import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// A point at which stepping stops, and the way to find the commits that it may stop at.
struct StopPoint {
    enum Way {
        /// These offsets, in ascending order.
        case listed([UInt64])
        /// The entries of change lists.
        case touched([List])
        /// All commits.
        case scanned
    }

    /// Entries of change lists, of one kind or of all.
    struct List {
        let subject: TouchedCommits.Subject
        var kind: Touch.Kind?
    }

    let way: Way
    /// Nil if every commit found this way matches.
    let fits: ((Commit) throws -> Bool)?
}
