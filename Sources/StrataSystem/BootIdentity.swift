import StrataModel

/// The identity of the machine's current boot. What was in memory during another boot is gone.
package enum BootIdentity {
    /// Nil where the system does not report it.
    package static let current: Identifier? = {
        // Files of /proc report no size, so `readAll` would read nothing.
        let line = try? RealFileSystem().open("/proc/sys/kernel/random/boot_id", .read).read(count: 64, at: 0)
        return line.flatMap { identifier(String(decoding: $0, as: UTF8.self)) }
    }()

    /// Parses 32 hexadecimal digits with hyphens between them.
    static func identifier(_ text: String) -> Identifier? {
        let digits = text.filter { $0 != "-" && $0 != "\n" }
        guard digits.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        return Identifier(high: high, low: low)
    }
}
