/// A closure that receives the place or ID of an item and the fraction of its bytes that have been copied or read.
typealias ItemProgress<Item> = @Sendable (_ item: Item, _ fraction: Double) -> Void

/// The fractions to report for one item: at most a hundred, each larger than the one before, all below 1. The item's
/// result reports 1.
struct ProgressSteps {
    private var last = 0

    /// Returns the fraction to report; nil if it is too close to the last one.
    mutating func next(_ fraction: Double) -> Double? {
        guard fraction > 0, fraction < 1, Int(fraction * 100) > last else { return nil }
        last = Int(fraction * 100)
        return fraction
    }
}
