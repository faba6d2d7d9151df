import StrataModel
import StrataTree
import StrataViews

/// The delivery marks of a store that is played back; none of them is written to a log.
struct PlayedDeliveries: Sendable {
    /// The offset up to which a device was notified, and the number on its badge.
    typealias Mark = (through: UInt64, badge: UInt64)

    /// The state at which playing began.
    private let opening: Snapshot
    var marks: [Actor: Mark] = [:]

    init(_ opening: Snapshot) { self.opening = opening }

    /// Returns the mark of a device. A device that existed when playing began is notified of everything from there on,
    /// and its badge continues to count.
    func mark(of actor: Actor) throws -> Mark? {
        if let mark = marks[actor] { return mark }
        guard let device = try opening.device(actor) else { return nil }
        return (opening.foldedOffset(ViewTree.records), try opening.delivery(to: device)?.badge ?? 0)
    }
}

extension TreeReading {
    /// Returns the ordinal of a device; nil for a device without an ordinal.
    package func device(_ actor: Actor) throws -> UInt64? {
        guard let user = try ordinal(of: .user(actor.user)) else { return nil }
        return try ordinal(of: .device(user: user, actor.device))
    }
}
