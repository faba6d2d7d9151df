import StrataModel

/// Which run of the machine this is: what was in memory in another one is gone.
public enum BootIdentity {
    /// Nil where the system does not say.
    public static let current: Identifier? = {
        // Files of /proc have no size, so that `readAll` would find nothing.
        let line = try? RealFileSystem().open("/proc/sys/kernel/random/boot_id", .read).read(count: 64, at: 0)
        return line.flatMap { identifier(String(decoding: $0, as: UTF8.self)) }
    }()

    /// From 32 hexadecimal digits with hyphens between them.
    static func identifier(_ text: String) -> Identifier? {
        let digits = text.filter { $0 != "-" && $0 != "\n" }
        guard digits.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        return Identifier(high: high, low: low)
    }
}
