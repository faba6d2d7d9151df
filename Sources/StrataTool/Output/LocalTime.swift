import Glibc
import Synchronization

/// The choice to print times in the caller's time zone (`TZ`) instead of UTC.
enum LocalTime {
    private static let isWanted = Atomic(false)

    static func use() {
        tzset()
        isWanted.store(true, ordering: .relaxed)
    }

    /// Returns the minutes by which the time zone is ahead of UTC at a time; nil if times are printed in UTC.
    static func minutesAhead(at microseconds: Int64) -> Int64? {
        guard isWanted.load(ordering: .relaxed) else { return nil }
        var (seconds, parts) = (time_t(microseconds / 1_000_000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        return Int64(parts.tm_gmtoff) / 60
    }
}
