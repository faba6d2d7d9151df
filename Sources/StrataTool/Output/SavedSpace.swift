/// Describes the space saved by storing data.
enum SavedSpace {
    /// Returns the percentage of bytes saved, such as `35%`, negative if more bytes are stored. From twice the size on
    /// returns the factor, such as `18x larger`, and `-` if there is nothing to compare.
    static func percent(of count: UInt64, in stored: UInt64) -> String {
        guard let share = share(count, stored) else { return "-" }
        return larger(count, stored) ?? share
    }

    /// Returns the saving as words, such as `35% smaller`.
    static func text(of count: UInt64, in stored: UInt64) -> String {
        guard let share = share(count, stored), share != "0%" else { return "about the same size" }
        if let larger = larger(count, stored) { return larger }
        return share.hasPrefix("-") ? "\(share.dropFirst()) larger" : "\(share) smaller"
    }

    /// Returns how many times larger the stored form is; nil if it is less than twice as large.
    private static func larger(_ count: UInt64, _ stored: UInt64) -> String? {
        let times = Double(stored) / Double(count)
        return times < 2 ? nil : "\(Int(times.rounded()))x larger"
    }

    private static func share(_ count: UInt64, _ stored: UInt64) -> String? {
        guard count > 0, stored > 0 else { return nil }
        let percent = ((1 - Double(stored) / Double(count)) * 100).rounded()
        // Never 100%, since something is stored.
        return percent == 100 ? "99.9%" : "\(Int(percent))%"
    }
}
