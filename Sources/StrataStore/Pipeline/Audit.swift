import StrataModel
import StrataRules

/// A note for the log that no caller waits for: a lazy commit that is not written yet.
struct Audit: Sendable {
    let actor: Actor
    let operation: OperationInfo
    let kind: EnvelopeHeader.OperationKind
    /// The time of the noted event, in microseconds since 1970.
    let time: Int64
    var event: Event
    /// The newest commit in the state on which the noted request was judged; nil for other notes.
    var judgedOn: UInt64?

    /// The approximate number of bytes that it takes in memory and in the log.
    var byteCount: Int {
        256 + event.body.count + actor.user.utf8.count + actor.device.utf8.count + operation.groupName.utf8.count
    }
}

/// The bytes of notes that a store keeps of each user, so that refused requests cannot fill the disk.
struct KeptRequests {
    /// The maximum bytes of a user in an hour, and as many again of notes that have lost their requests.
    static let maximumBytes = 8 << 20
    /// The number of users in an hour after which further ones share the room of one.
    static let maximumUsers = 1 << 12
    private static let hourMicroseconds: Int64 = 3_600_000_000

    /// The beginning of the hour.
    private var start: Int64 = 0
    private var bytes: [String: (whole: Int, lighter: Int)] = [:]

    /// Returns the audit, without its request if the user has no room for it in this hour; nil if there is no room for
    /// that either.
    mutating func admit(_ audit: Audit) -> Audit? {
        if audit.time < start || audit.time - start >= Self.hourMicroseconds {
            (start, bytes) = (audit.time, [:])
        }
        var user = audit.actor.user
        // Actors without a user share that room, too.
        if bytes.count >= Self.maximumUsers, bytes[user] == nil { user = "" }
        var total = bytes[user, default: (0, 0)]
        defer { bytes[user] = total }
        if total.whole + audit.event.body.count <= Self.maximumBytes {
            total.whole += audit.event.body.count
            return audit
        }
        var lighter = audit
        lighter.event = (try? audit.event.withoutRequest()) ?? audit.event
        guard total.lighter + lighter.event.body.count <= Self.maximumBytes else { return nil }
        total.lighter += lighter.event.body.count
        return lighter
    }
}

extension Event {
    /// Returns a note of a request that has only the request's length.
    fileprivate func withoutRequest() throws -> Event {
        guard var note = try requestNote() else { return self }
        note.kept.drop()
        return try note.event()
    }
}
