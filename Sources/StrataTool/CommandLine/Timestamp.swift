import Glibc

/// A point in time of the Gregorian calendar in UTC, in microseconds.
struct Timestamp: Equatable {
    static let microsecondsPerDay: Int64 = 86_400_000_000

    var microseconds: Int64

    struct Parts: Equatable {
        var year: Int64
        var month: Int64
        var day: Int64
        /// Microseconds since midnight.
        var microseconds: Int64
    }

    init(microseconds: Int64) { self.microseconds = microseconds }

    var parts: Parts {
        let (seconds, rest) = Self.floorDivide(microseconds, by: 1_000_000)
        var (time, date) = (time_t(seconds), tm())
        gmtime_r(&time, &date)
        let secondOfDay = (Int64(date.tm_hour) * 60 + Int64(date.tm_min)) * 60 + Int64(date.tm_sec)
        return Parts(
            year: Int64(date.tm_year) + 1_900, month: Int64(date.tm_mon) + 1, day: Int64(date.tm_mday),
            microseconds: secondOfDay * 1_000_000 + rest)
    }

    private static func floorDivide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension Timestamp {
    /// Parses `now`, `today` and `yesterday`; `2 hours ago` with any unit, and `last week` for one of it; `2026-11-21`
    /// and `2026-11-21T05:18`, with seconds, a fraction, `Z` or an offset such as `+01:00`; `15m`, counted back from
    /// `now`, also with `s`, `h`, `d` and `w`; and `@1795238283000000`. Times without an offset are UTC.
    init?(parsing text: String, now: Int64) {
        var scanner = DigitScanner(text)
        if text.hasPrefix("@") {
            guard let number = Int64(text.dropFirst()) else { return nil }
            microseconds = number
            return
        }
        if let named = Self.named(text.lowercased(), now: now) {
            microseconds = named
            return
        }
        if let unit = text.last, let seconds = Self.seconds(ofUnit: String(unit)) {
            guard let time = Self.time(text.dropLast(), of: seconds, before: now) else { return nil }
            microseconds = time
            return
        }
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(year - 1_900), Int32(month - 1), Int32(day))
        microseconds = Int64(timegm(&date)) * 1_000_000
        // A day that does not exist in its month is converted to one of the next month.
        guard date.tm_mday == day else { return nil }
        if scanner.isAtEnd { return }
        guard scanner.skip("T") || scanner.skip(" "), let time = scanner.timeOfDay() else { return nil }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        microseconds += time - offset
    }

    private static func named(_ text: String, now: Int64) -> Int64? {
        let midnight = now - floorDivide(now, by: microsecondsPerDay).1
        switch text {
        case "now": return now
        case "today": return midnight
        case "yesterday": return midnight - microsecondsPerDay
        default: break
        }
        let words = text.split(separator: " ")
        if words.count == 2, words[0] == "last", ["minute", "hour", "day", "week"].contains(words[1]) {
            return seconds(ofUnit: words[1]).flatMap { time("1", of: $0, before: now) }
        }
        guard words.count == 3, words[2] == "ago", let seconds = seconds(ofUnit: words[1]) else { return nil }
        return time(words[0], of: seconds, before: now)
    }

    private static func seconds(ofUnit unit: some StringProtocol) -> Int64? {
        switch unit {
        case "s", "sec", "second", "seconds": 1
        case "m", "min", "minute", "minutes": 60
        case "h", "hour", "hours": 3_600
        case "d", "day", "days": 86_400
        case "w", "week", "weeks": 604_800
        default: nil
        }
    }

    private static func time(_ count: Substring, of seconds: Int64, before now: Int64) -> Int64? {
        guard let count = Int64(count), count >= 0 else { return nil }
        let (span, overflow) = count.multipliedReportingOverflow(by: seconds * 1_000_000)
        let (time, under) = now.subtractingReportingOverflow(span)
        return overflow || under ? nil : time
    }

    /// The parts in the time zone used for printing, and the text for that zone: `Z`, or `+01:00`.
    var printed: (parts: Parts, zone: String) {
        guard let minutes = LocalTime.minutesAhead(at: microseconds) else { return (parts, "Z") }
        let (shifted, overflow) = microseconds.addingReportingOverflow(minutes * 60_000_000)
        if overflow { return (parts, "Z") }
        func digits(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let ahead = abs(minutes)
        let zone = (minutes < 0 ? "-" : "+") + digits(ahead / 60) + ":" + digits(ahead % 60)
        return (Timestamp(microseconds: shifted).parts, zone)
    }
}

/// Reads digits and signs at fixed positions.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == sign.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = rest.first, (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - 0x30)
            rest = rest.dropFirst()
        }
        return number
    }

    /// Reads a time of day as microseconds since midnight.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60 else {
            return nil
        }
        var time = (hour * 60 + minute) * 60_000_000
        guard skip(":") else { return time }
        guard let second = number(digits: 2), second < 60 else { return nil }
        time += second * 1_000_000
        guard skip(".") else { return time }
        var scale: Int64 = 100_000
        guard let first = number(digits: 1) else { return nil }
        time += first * scale
        while scale > 1, let digit = number(digits: 1) {
            scale /= 10
            time += digit * scale
        }
        return time
    }

    /// Reads the zone's offset from UTC in microseconds, positive to the east.
    mutating func zone() -> Int64? {
        if isAtEnd || skip("Z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), skip(":"), let minutes = number(digits: 2), hours < 24,
            minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes) * 60_000_000
    }
}

extension Output {
    /// `2026-11-21T05:18:03.123456Z`, for any year in the range of microseconds.
    func write(_ time: Timestamp) {
        let (parts, zone) = time.printed
        if parts.year < 0 { write(UInt8(ascii: "-")) }
        write(decimal: parts.year.magnitude, width: 4)
        write("-")
        write(decimal: UInt64(parts.month), width: 2)
        write("-")
        write(decimal: UInt64(parts.day), width: 2)
        let seconds = UInt64(parts.microseconds) / 1_000_000
        write("T")
        write(decimal: seconds / 3_600, width: 2)
        write(":")
        write(decimal: seconds / 60 % 60, width: 2)
        write(":")
        write(decimal: seconds % 60, width: 2)
        write(".")
        write(decimal: UInt64(parts.microseconds) % 1_000_000, width: 6)
        write(zone)
    }
}
