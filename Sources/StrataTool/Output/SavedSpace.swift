/// How much smaller something is that was stored.
enum SavedSpace {
    /// Returns the share of the bytes that need not be stored, such as `35 %`; negative if more are stored, and `-` if
    /// there is nothing to compare.
    static func percent(of count: UInt64, in stored: UInt64) -> String { share(count, stored).map { "\($0) %" } ?? "-" }

    /// Returns it in words that follow both sizes, such as `35 % smaller`.
    static func text(of count: UInt64, in stored: UInt64) -> String {
        guard let share = share(count, stored), share != 0 else { return "about the same size" }
        return share > 0 ? "\(share) % smaller" : "\(-share) % larger"
    }

    private static func share(_ count: UInt64, _ stored: UInt64) -> Int? {
        guard count > 0, stored > 0 else { return nil }
        return Int(((1 - Double(stored) / Double(count)) * 100).rounded())
    }
}
