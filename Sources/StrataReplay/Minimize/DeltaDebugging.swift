/// Shrinks a set that has a property by leaving out parts of it: first everything, then halves, and finally single
/// items, until no item can be left out.
///
/// ```swift
/// let few = try DeltaDebugging.minimal(all) { try holds($0) }
/// ```
enum DeltaDebugging {
    /// Returns a 1-minimal subset: without any single item of it, the property is lost. It need not be the smallest
    /// such subset, since several items together might be removable.
    ///
    /// - Parameters:
    ///   - items: a set that has the property; the result keeps its order.
    ///   - isStopped: called before each trial; if it returns true, the items left by then are returned.
    ///   - holds: returns true if the given items have the property.
    static func minimal<Item>(
        _ items: [Item], isStopped: () -> Bool = { false }, _ holds: ([Item]) throws -> Bool
    ) rethrows -> [Item] {
        var rest = items
        var size = items.count
        while size > 0, !rest.isEmpty {
            var start = 0
            var hasLost = false
            while start < rest.count {
                if isStopped() { return rest }
                let end = min(start + size, rest.count)
                let candidate = Array(rest[..<start] + rest[end...])
                if try holds(candidate) {
                    rest = candidate
                    hasLost = true
                } else {
                    start = end
                }
            }
            // A pass over single items that removed none ends the search.
            if size == 1, !hasLost { break }
            size = min(max(1, size / 2), max(1, rest.count))
        }
        return rest
    }
}
