import Glibc
import StrataSystem

/// The time and the bytes that this process has used so far, with all of its threads.
struct ProcessUsage {
    var processorSeconds = 0.0
    /// Bytes of pages that became dirty, and of direct writes: what the process sends to the disk sooner or later.
    var writtenBytes = 0.0

    static var now: Self {
        Self(processorSeconds: processorSecondsNow(), writtenBytes: readNumber("write_bytes:", in: "/proc/self/io"))
    }

    static func processorSecondsNow() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    static func - (left: Self, right: Self) -> Self {
        Self(
            processorSeconds: left.processorSeconds - right.processorSeconds,
            writtenBytes: left.writtenBytes - right.writtenBytes)
    }

    static func += (left: inout Self, right: Self) {
        left.processorSeconds += right.processorSeconds
        left.writtenBytes += right.writtenBytes
    }

    /// Waits until the process neither works nor writes for a tenth of a second, so that what one side owes is not
    /// counted for the other.
    static func awaitRest() {
        let end = secondsNow() + 60
        var restingIntervals = 0
        var last = now
        while restingIntervals < 5, secondsNow() < end {
            usleep(20_000)
            let used = now - last
            restingIntervals = used.processorSeconds < 0.001 && used.writtenBytes == 0 ? restingIntervals + 1 : 0
            last = now
        }
    }

    /// Returns the number behind a key of a file of the system.
    static func readNumber(_ key: String, in path: String) -> Double {
        guard let file = fopen(path, "r") else { return .nan }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(key) { return Double(text.filter(\.isNumber)) ?? .nan }
        }
        return .nan
    }
}
