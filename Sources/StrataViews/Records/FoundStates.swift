/// The states of records before a commit, as its judge found them in the fork into which the commit is folded. Folding
/// does not search for them again.
package struct FoundStates: Sendable {
    private var states: [(event: UInt32, bytes: [UInt8]?)] = []
    private var next = 0

    package init() {}

    /// - Parameters:
    ///   - bytes: the state of the record; nil if it did not exist.
    ///   - event: the index of the event that changes the record, higher than the last one.
    package mutating func append(_ bytes: [UInt8]?, before event: UInt32) { states.append((event, bytes)) }

    /// Returns the state of the record that an event changes. Events come in their order.
    mutating func take(before event: UInt32) -> FoundState {
        while next < states.count, states[next].event < event { next += 1 }
        guard next < states.count, states[next].event == event else { return .unknown }
        return states[next].bytes.map { .found($0) } ?? .absent
    }
}

/// The knowledge about the state of a record before an event.
enum FoundState {
    case unknown
    case absent
    case found([UInt8])
}
