/// Decides when a closed segment is sealed: once writers rest, because sealing compresses hard and would take processor
/// time from writers; or when too many segments wait, which take more space and time to read.
///
/// Belongs to one round of sealing, and is asked at least ``milliseconds`` after it said no.
struct SealingPace {
    /// The time between two looks at what writers do.
    static let milliseconds = 1_000
    /// A log to which fewer bytes were appended since the last look is at rest.
    static let restBytes = 256 << 10

    private let maximumWaiting: Int
    /// The bytes that had been appended at the last look.
    private var seenBytes: Int?

    init(maximumWaiting: Int) { self.maximumWaiting = maximumWaiting }

    /// - Parameters:
    ///   - waiting: the number of segments that are to be sealed.
    ///   - appendedBytes: the number of bytes that were ever appended.
    mutating func isDue(waiting: Int, appendedBytes: Int) -> Bool {
        defer { seenBytes = appendedBytes }
        return waiting > maximumWaiting || seenBytes.map { appendedBytes - $0 < Self.restBytes } ?? false
    }
}
