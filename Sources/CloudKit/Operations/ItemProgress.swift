/// Takes the fraction of an item's bytes that have been moved, with the item's place or ID.
typealias ItemProgress<Item> = @Sendable (_ item: Item, _ fraction: Double) -> Void

/// The fractions that are told of one item: a hundred at most, each larger than the last, and never 1, which
/// comes with the item's result.
struct ProgressSteps {
    private var last = 0

    /// Nil for what is not told.
    mutating func next(_ fraction: Double) -> Double? {
        guard fraction > 0, fraction < 1, Int(fraction * 100) > last else { return nil }
        last = Int(fraction * 100)
        return fraction
    }
}
