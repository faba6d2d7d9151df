import Glibc
import StrataModel
import StrataSystem

/// The connections between two parties, through which everything they send goes: it can be held back, delayed, or cut.
final class Link: Sendable {
    enum Direction: Int, CaseIterable, Sendable {
        case forward, backward

        var reversed: Direction { self == .forward ? .backward : .forward }
    }

    /// What happens to bytes in a direction.
    enum Flow: Equatable, Sendable {
        case open
        /// They wait, as if packets were lost and sent again.
        case held
        case delayed(milliseconds: Int)
    }

    private struct State {
        var flows: [Flow] = [.open, .open]
        var connections: [ObjectIdentifier: ProxiedConnection] = [:]
    }

    let name: String
    private let state = Monitor(State())

    init(_ name: String) { self.name = name }

    func set(_ flow: Flow, _ directions: [Direction] = Direction.allCases) {
        state.withLock { state in
            for direction in directions { state.flows[direction.rawValue] = flow }
        }
        state.notifyAll()
    }

    /// Returns once bytes may go on in a direction.
    func pass(_ direction: Direction) {
        let flow = state.wait { state -> Flow? in
            let flow = state.flows[direction.rawValue]
            return flow == .held ? nil : flow
        }
        if case .delayed(let milliseconds) = flow { usleep(UInt32(milliseconds) * 1_000) }
    }

    // MARK: Connections

    func add(_ connection: ProxiedConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    func remove(_ connection: ProxiedConnection) {
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    private var connections: [ProxiedConnection] { state.withLock { Array($0.connections.values) } }

    /// Ends all connections, as seen from both sides.
    func reset() {
        for connection in connections { connection.end() }
    }

    /// Ends all connections as seen from one side, while the other side notices nothing; returns them.
    func halve(_ direction: Direction) -> [ProxiedConnection] {
        let connections = connections
        for connection in connections { connection.halve(direction) }
        return connections
    }
}
