import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The means of a pipeline to send requests to another process (docs/replication-internals.md §6).
struct Forwarding: Sendable {
    let log: ReplicatedLog
    let carrier: any RequestCarrier
    /// True if requests always go to the home writer, unless it is this process.
    let sendsAll: Bool

    /// Returns nil for a log whose sequencer does not carry requests.
    ///
    /// - Throws: `.unsuitable` if the place demands it.
    init?(_ log: any EventLog, _ place: LogPlace) throws {
        guard let log = log as? ReplicatedLog else { return nil }
        guard let carrier = log.carrier else {
            guard place.writes == .anywhere else {
                throw StrataError(
                    .unsuitable, "The sequencer cannot carry requests to another process; use writing(.anywhere).",
                    .init(path: place.address))
            }
            return nil
        }
        self.log = log
        self.carrier = carrier
        sendsAll = place.writes == .home
    }
}
