/// The balance of the batches that this process lost to others and of those that it appended, which decides when it
/// sends its requests to the home writer (docs/replication-internals.md §6).
struct Contention {
    /// The balance of losses at which requests go to the home writer.
    static let limit = 3
    /// The time after which this process appends by itself again.
    static let rest = Duration.seconds(1)

    private var balance = 0
    private var restEnd: ContinuousClock.Instant?

    /// Notes that another process appended before a batch of this one.
    mutating func noteLoss(at now: ContinuousClock.Instant) {
        balance += 1
        guard balance >= Self.limit else { return }
        // After that time, one more loss is enough.
        balance = Self.limit - 1
        restEnd = now + Self.rest
    }

    /// Notes that a batch was appended.
    mutating func noteSuccess() { balance = max(0, balance - 1) }

    /// Returns true while requests go to the home writer.
    func yields(at now: ContinuousClock.Instant) -> Bool { restEnd.map { now < $0 } ?? false }
}
