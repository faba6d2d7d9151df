import StrataLog
import StrataModel
import StrataSystem

extension EventLog {
    /// Appends commits with these payloads as one group, and returns their positions.
    ///
    /// Any number of threads may call this: a group that another one precedes, or of which the log takes a prefix, is
    /// continued at the new end.
    package func commit(_ payloads: [ArraySlice<UInt8>]) throws(AppendFailure) -> [Position] {
        let platform = Platform()
        var commits = payloads.map { NewCommit(id: platform.random.nextIdentifier(), time: 0, payload: $0) }
        var positions: [Position] = []
        while !commits.isEmpty {
            // Read before the time: what another writer appends in between is a conflict, not a time that goes back.
            let end = end
            let time = max(platform.time.nowMicroseconds(), endTime ?? .min)
            for index in commits.indices { commits[index].time = time }
            do throws(AppendFailure) {
                let accepted = try append(commits, expecting: end).positions
                positions += accepted
                commits.removeFirst(accepted.count)
            } catch {
                guard case .conflict = error else { throw error }
            }
        }
        return positions
    }
}
