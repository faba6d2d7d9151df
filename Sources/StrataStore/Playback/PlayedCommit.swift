import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// A commit that a playback has played.
public struct PlayedCommit: Sendable, Hashable {
    public let offset: UInt64
    /// Microseconds since 1970, as the log has it.
    public let time: Int64
    /// The actor of the commit; nil for the service.
    public let actor: Actor?
    public let eventCount: Int

    /// - Parameter trees: a state at the commit or a later one.
    init(_ commit: Commit, in trees: Snapshot) throws {
        (offset, time) = (commit.offset, commit.time)
        let (header, count) = try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            var count = 0
            while try walker.next() != nil { count += 1 }
            return (header, count)
        }
        eventCount = count
        actor = header.user == 0 ? nil : try trees.actor(of: header)
    }
}
