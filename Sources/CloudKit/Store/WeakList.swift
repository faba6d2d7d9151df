/// Objects that are in use elsewhere; an object leaves the list once nothing else refers to it.
struct WeakList<Object: AnyObject & Sendable>: Sendable {
    private struct Entry {
        weak var object: Object?
    }

    private var entries: [Entry] = []

    mutating func add(_ object: Object) {
        entries.removeAll { $0.object == nil }
        entries.append(Entry(object: object))
    }

    var objects: [Object] { entries.compactMap(\.object) }
}
