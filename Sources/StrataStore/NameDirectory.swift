import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Names and ordinals that readers have looked up. What is published is never dropped, so it holds for every state.
final class NameDirectory: Sendable {
    private struct State {
        var ordinals: [InternedName.Name: UInt64] = [:]
        var names: [[UInt64: InternedName.Name]] = Array(repeating: [:], count: 7)
        var count = 0
    }

    /// Beyond, what was read is forgotten and read again.
    private static let maximumCount = 1 << 17

    private let state = Lock(State())

    func ordinal(of name: InternedName.Name, in snapshot: Snapshot) throws -> UInt64? {
        if let known = state.withLock({ $0.ordinals[name] }) { return known }
        guard let ordinal = try snapshot.ordinal(of: name) else { return nil }
        keep(name, ordinal)
        return ordinal
    }

    func name(_ namespace: UInt8, _ ordinal: UInt64, in snapshot: Snapshot) throws -> InternedName.Name? {
        if let known = state.withLock({ $0.names[Int(namespace)][ordinal] }) { return known }
        guard let name = try snapshot.name(namespace, ordinal) else { return nil }
        keep(name, ordinal)
        return name
    }

    private func keep(_ name: InternedName.Name, _ ordinal: UInt64) {
        state.withLock { state in
            if state.count >= Self.maximumCount { state = State() }
            state.ordinals[name] = ordinal
            state.names[Int(name.namespace)][ordinal] = name
            state.count += 1
        }
    }

    func user(_ ordinal: UInt64, in snapshot: Snapshot) throws -> String {
        guard ordinal != 0, case .user(let name)? = try name(1, ordinal, in: snapshot) else { return "" }
        return name
    }

    func text(_ namespace: UInt8, _ ordinal: UInt64, in snapshot: Snapshot) throws -> String {
        switch try name(namespace, ordinal, in: snapshot) {
        case .user(let text), .recordType(let text), .field(let text), .device(_, let text), .zone(_, _, let text):
            return text
        case .database, nil:
            throw StrataError(
                .malformed, "A row names an ordinal that has no name.",
                .init(expected: "a name in namespace \(namespace)", found: "ordinal \(ordinal)"))
        }
    }
}
