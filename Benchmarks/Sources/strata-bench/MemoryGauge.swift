import Glibc

/// How much memory a piece of work needs beyond what was in use before it, in MiB.
struct MemoryGauge {
    private let before: Double

    init() {
        // Sets the high-water mark back to what is in use now.
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        before = Self.read("VmRSS:")
    }

    var extraMebibytes: Double { before.isFinite ? max(0, Self.read("VmHWM:") - before) : .infinity }

    /// What this process has that is no file's, now.
    static var anonymousMebibytes: Double { read("RssAnon:") }

    private static func read(_ key: String) -> Double {
        guard let file = fopen("/proc/self/status", "r") else { return .infinity }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(key) { return (Double(text.filter(\.isNumber)) ?? 0) / 1_024 }
        }
        // Nothing was measured, so no bar may be met.
        return .infinity
    }
}

/// The most that any piece of work needed.
final class MemoryLedger {
    private(set) var highest = 0.0

    func note(_ gauge: MemoryGauge) { highest = max(highest, gauge.extraMebibytes) }
}
