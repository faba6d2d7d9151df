import StrataModel
import StrataRules

/// A note for the log that no caller waits for: a lazy commit that is not written yet.
struct Audit: Sendable {
    let actor: Actor
    let operation: OperationInfo
    let kind: EnvelopeHeader.OperationKind
    /// The time of the noted event, in microseconds since 1970.
    let time: Int64
    let event: Event

    /// The approximate number of bytes that it takes in memory and in the log.
    var byteCount: Int {
        256 + event.body.count + actor.user.utf8.count + actor.device.utf8.count + operation.groupName.utf8.count
    }
}
