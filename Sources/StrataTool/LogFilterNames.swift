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
            try? self.gather(payload)
            if isNone { return [] }
            let touches = (try? Envelope.touches(of: payload)) ?? []
            guard let wanted else { return touches }
            let found = touches.filter { payload[$0.key].elementsEqual(wanted) }
            if !found.isEmpty { self.touched.withLock { $0.formUnion(found.map(\.zone)) } }
            return found + touches.filter { $0.kind == .zoneDeleted }
        }
    }

    private func gather(_ payload: UnsafeRawBufferPointer) throws {
        var walker = try EventWalker(payload)
        while let event = try walker.next() {
            guard event.kind == .nameInterned else { continue }
            let body = ArraySlice(UnsafeRawBufferPointer(rebasing: payload[event.body]))
            guard let name = try? InternedName(decoding: body) else { continue }
            gathered.withLock { $0.append(name) }
        }
    }
}
