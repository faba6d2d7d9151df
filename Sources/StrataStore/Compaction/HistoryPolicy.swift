import StrataLog
import StrataModel

/// The amount of history that a store keeps automatically. History without a limit is kept forever.
///
/// ```swift
/// var options = StoreOptions.service
/// options.history = HistoryPolicy(days: 30, bytes: 1 << 30)
/// ```
public struct HistoryPolicy: Sendable, Hashable {
    /// The number of days after which history is removed.
    public var days: Int?
    /// The number of bytes of log segments above which the oldest history is removed.
    public var bytes: UInt64?

    public static let everything = HistoryPolicy()

    public init(days: Int? = nil, bytes: UInt64? = nil) {
        self.days = days
        self.bytes = bytes
    }

    var keepsEverything: Bool { days == nil && bytes == nil }

    private static let dayMicroseconds: Int64 = 86_400_000_000

    /// Returns the offset up to which history is to be removed: always whole closed segments, since only these free
    /// space. Returns nil if they would free no more bytes than the current base takes.
    ///
    /// - Parameter firstKept: returns the first commit that is not older than a time.
    func horizon(
        _ segments: [StoredSegment], now: Int64, durableEnd: UInt64, baseBytes: UInt64,
        firstKept: (Int64) throws -> UInt64?
    ) throws -> UInt64? {
        var horizon: UInt64 = 0
        if let days {
            let (age, isTooLong) = Int64(max(0, days)).multipliedReportingOverflow(by: Self.dayMicroseconds)
            // No history is older than the beginning of time.
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
