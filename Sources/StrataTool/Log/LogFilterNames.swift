import StrataLog
import StrataModel
import StrataSystem

/// Collects the names that commits intern, while a reader scans the newest segment to find the end of its log.
final class LogFilterNames: Sendable {
    /// The changes to list for unsealed segments. Sealed segments list all of theirs.
    enum Changes: Sendable, Equatable {
        case none
        case all
        /// Changes of records of that name, in any zone, and deletions of zones.
        case record(String)
    }

    private let gathered = Lock<[InternedName]>([])
    private let touched = Lock<Set<UInt64>>([])

    /// The names, with duplicates.
    var all: [InternedName] { gathered.withLock { $0 } }
    /// The zones that have a record of the wanted name, as far as frames were scanned.
    var touchedZones: Set<UInt64> { touched.withLock { $0 } }

    /// Returns the function for ``StoreAccess``. A payload that is not an envelope has no names and touches nothing.
    func touches(_ changes: Changes) -> TouchFunction {
        let wanted: [UInt8]? = if case .record(let name) = changes { Array(name.utf8) } else { nil }
        let isNone = if case .none = changes { true } else { false }
        return { payload in
            let found = try? Envelope.touches(
                of: payload,
                where: { touch in
                    if isNone { return false }
                    guard let wanted, touch.kind != .zoneDeleted else { return true }
                    return touch.key.count == wanted.count && payload[touch.key].elementsEqual(wanted)
                },
                names: { body in
                    guard let name = try? InternedName(decoding: ArraySlice(payload[body])) else { return }
                    self.gathered.withLock { $0.append(name) }
                })
            guard let found else { return [] }
            if wanted != nil, !found.isEmpty { self.noteZones(of: found) }
            return found
        }
    }

    private func noteZones(of touches: [Touch]) {
        touched.withLock { $0.formUnion(touches.filter { $0.kind != .zoneDeleted }.map(\.zone)) }
    }
}
