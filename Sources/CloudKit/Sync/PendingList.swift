/// A save or a delete of an item.
protocol PendingChange: Sendable {
    /// Equal for the changes of one item.
    associatedtype Key: Hashable & Sendable
    var key: Key { get }
    var isSave: Bool { get }
}

/// Changes in the order of their addition, at most one for each item (B420).
struct PendingList<Change: PendingChange>: Sendable {
    struct Entry {
        var change: Change
        var isInFlight = false
        /// True if the change was added once more while it was in flight (B418).
        var isAddedAgain = false
    }

    /// Removed entries leave gaps until they are half of all.
    private(set) var entries: [Entry?] = []
    private var places: [Change.Key: Int] = [:]
    private static var minimumGaps: Int { 64 }

    var isEmpty: Bool { places.isEmpty }
    var count: Int { places.count }
    var changes: [Change] { entries.compactMap { $0?.change } }

    /// Returns true if the list changed.
    mutating func add(_ changes: [Change]) -> Bool {
        places.reserveCapacity(places.count + changes.count)
        return changes.reduce(false) { add($1) || $0 }
    }

    /// Returns true if the list changed.
    mutating func add(_ change: Change) -> Bool {
        let key = change.key
        let next = entries.count
        // One search for both: a new key gets the next place.
        let place = { (place: inout Int) in place }(&places[key, default: next])
        if place < next, let entry = entries[place] {
            if entry.change.isSave == change.isSave {
                let hasNews = entry.isInFlight && !entry.isAddedAgain
                entries[place]?.change = change
                entries[place]?.isAddedAgain = entry.isInFlight
                return hasNews
            }
            entries[place] = nil
            places[key] = next
        }
        entries.append(Entry(change: change))
        closeGaps()
        return true
    }

    /// Removes a change of the same kind and item. Returns true if there was one.
    mutating func remove(_ change: Change) -> Bool {
        guard let place = place(of: change) else { return false }
        places[change.key] = nil
        entries[place] = nil
        closeGaps()
        return true
    }

    /// Marks a change as being sent, if it is in the list.
    mutating func begin(_ change: Change) {
        guard let place = place(of: change) else { return }
        entries[place]?.isInFlight = true
        entries[place]?.isAddedAgain = false
    }

    /// Ends the sending of a change: it leaves the list unless it is kept or was added again.
    mutating func end(_ change: Change, isKept: Bool) {
        guard let place = place(of: change), let entry = entries[place], entry.isInFlight else { return }
        if isKept || entry.isAddedAgain {
            entries[place]?.isInFlight = false
            entries[place]?.isAddedAgain = false
        } else {
            _ = remove(change)
        }
    }

    private func place(of change: Change) -> Int? {
        guard let place = places[change.key], entries[place]?.change.isSave == change.isSave else { return nil }
        return place
    }

    private mutating func closeGaps() {
        guard entries.count > Self.minimumGaps, entries.count > 2 * places.count else { return }
        entries.removeAll { $0 == nil }
        for (place, entry) in entries.enumerated() {
            if let entry { places[entry.change.key] = place }
        }
    }
}
