import StrataLog
import StrataModel

/// How much of its history a store keeps by itself. What is not limited is kept for ever.
///
/// ```swift
/// var options = StoreOptions.service
/// options.history = HistoryPolicy(days: 30, bytes: 1 << 30)
/// ```
public struct HistoryPolicy: Sendable, Hashable {
    /// What is older than so many days goes.
    public var days: Int?
    /// The oldest goes while the log's segments have more bytes than that.
    public var bytes: UInt64?

    public static let everything = HistoryPolicy()

    public init(days: Int? = nil, bytes: UInt64? = nil) {
        self.days = days
        self.bytes = bytes
    }

    var keepsEverything: Bool { days == nil && bytes == nil }

    private static let dayMicroseconds: Int64 = 86_400_000_000

    /// Up to where history is to go: always whole closed segments, since only these give anything back. Nil if that
    /// would be less than what a base takes that stands for it.
    ///
    /// - Parameter firstKept: the first commit that is not older than a time.
    func horizon(
        _ segments: [StoredSegment], now: Int64, durableEnd: UInt64, baseBytes: UInt64,
        firstKept: (Int64) throws -> UInt64?
    ) throws -> UInt64? {
        var horizon: UInt64 = 0
        if let days {
            let (age, isTooLong) = Int64(max(0, days)).multipliedReportingOverflow(by: Self.dayMicroseconds)
            // Before the beginning of time there is nothing to let go of.
            if !isTooLong, age <= now {
                horizon = try firstKept(now - age).map { $0 - 1 } ?? durableEnd
            }
        }
        if let bytes {
            var sum: UInt64 = 0
            for segment in segments.reversed() {
                sum += segment.byteCount
                if sum > bytes, let last = segment.lastOffset {
                    horizon = max(horizon, last)
                    break
                }
            }
        }
        var (end, freed): (UInt64?, UInt64) = (nil, 0)
        for segment in segments {
            guard let last = segment.lastOffset, last <= min(horizon, durableEnd) else { break }
            (end, freed) = (last, freed + segment.byteCount)
        }
        return freed > baseBytes ? end : nil
    }
}
