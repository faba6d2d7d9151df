/// Makes a set small that has a property, by leaving out parts of it: first all, then halves, and in the end one by
/// one, until nothing can be left out any more.
///
/// ```swift
/// let few = try DeltaDebugging.minimal(all) { try holds($0) }
/// ```
enum DeltaDebugging {
    /// What is left is 1-minimal: without any single item of it the property is gone. It need not be the smallest such
    /// set there is, since several items together might go.
    ///
    /// - Parameters:
    ///   - items: have the property; their order is kept.
    ///   - isStopped: asked before each trial; once it says so, what is left by then is given.
    ///   - holds: whether some of the items have the property.
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
            // One pass in which nothing went says that nothing can.
            if size == 1, !hasLost { break }
            size = min(max(1, size / 2), max(1, rest.count))
        }
        return rest
    }
}
