import StrataModel
import StrataTree
import StrataViews

/// What is noted of the devices of a store that is played again: nothing of it goes into a log.
struct PlayedDeliveries: Sendable {
    /// How far a device has been told, and the number on its badge.
    typealias Mark = (through: UInt64, badge: UInt64)

    /// The state at which playing began.
    private let opening: Snapshot
    var marks: [Actor: Mark] = [:]

    init(_ opening: Snapshot) { self.opening = opening }

    /// A device that there was when playing began is told of everything from there on, and counts on from its badge.
    func mark(of actor: Actor) throws -> Mark? {
        if let mark = marks[actor] { return mark }
        guard let device = try opening.device(actor) else { return nil }
        return (opening.foldedOffset(ViewTree.records), try opening.delivery(to: device)?.badge ?? 0)
    }
}

extension TreeReading {
    /// The ordinal of a device; nil for one that nothing names.
    func device(_ actor: Actor) throws -> UInt64? {
        guard let user = try ordinal(of: .user(actor.user)) else { return nil }
        return try ordinal(of: .device(user: user, actor.device))
    }
}
