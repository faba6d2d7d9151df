import StrataLog
import StrataModel
import StrataSystem

/// Gathers the names that commits intern, while a reader looks for the end of its log and goes through the newest
/// segment anyway.
final class LogFilterNames: Sendable {
    /// What the change lists of segments of frames are to have. Those of sealed segments have everything.
    enum Changes: Sendable, Equatable {
        case none
        case all
        /// Those of records of that name, in any zone, and deletions of zones.
        case record(String)
    }

    private let gathered = Lock<[InternedName]>([])
    private let touched = Lock<Set<UInt64>>([])

    /// The names, as often as they were come by.
    var all: [InternedName] { gathered.withLock { $0 } }
    /// Zones that have a record of the wanted name, as far as frames were gone through.
    var touchedZones: Set<UInt64> { touched.withLock { $0 } }

    /// For ``StoreAccess``. What is no envelope has no names, and touches nothing.
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
