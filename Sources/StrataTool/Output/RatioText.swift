/// How much smaller something became.
enum RatioText {
    /// To two places, such as `3.07`: so many bytes there are for each one that is stored; `-` for none.
    static func text(_ count: UInt64, per stored: UInt64) -> String {
        guard count > 0, stored > 0 else { return "-" }
        let hundredths = UInt64((Double(count) * 100 / Double(stored)).rounded())
        let digits = "\(hundredths % 100)"
        return "\(hundredths / 100)." + (digits.count == 1 ? "0" : "") + digits
    }
}
