/// The notation of an interpolated integer.
public struct OSLogIntegerFormatting: Sendable {
    /// Decimal digits.
    public static var decimal: OSLogIntegerFormatting { decimal() }
    /// Hexadecimal digits in lower case.
    public static var hex: OSLogIntegerFormatting { hex() }
    /// Octal digits.
    public static var octal: OSLogIntegerFormatting { octal() }

    /// Decimal digits.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: True for a `+` before positive numbers and 0.
    ///   - minDigits: The number of digits to fill up to with zeros.
    public static func decimal(
        explicitPositiveSign: Bool = false, minDigits: @autoclosure () -> Int = 0
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(
            radix: 10, prefix: "", sign: explicitPositiveSign ? "+" : "", isUppercase: false, minDigits: minDigits())
    }

    /// Hexadecimal digits.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: True for a `+` before positive numbers and 0.
    ///   - includePrefix: True for `0x` before the digits.
    ///   - uppercase: True for digits in upper case.
    ///   - minDigits: The number of digits to fill up to with zeros.
    public static func hex(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
        minDigits: @autoclosure () -> Int = 0
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(
            radix: 16, prefix: includePrefix ? "0x" : "", sign: explicitPositiveSign ? "+" : "", isUppercase: uppercase,
            minDigits: minDigits())
    }

    /// Octal digits.
    ///
    /// - Parameters:
    ///   - explicitPositiveSign: True for a `+` before positive numbers and 0.
    ///   - includePrefix: True for `0o` before the digits.
    ///   - uppercase: Changes nothing: no octal digit is a letter.
    ///   - minDigits: The number of digits to fill up to with zeros.
    public static func octal(
        explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false,
        minDigits: @autoclosure () -> Int = 0
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(
            radix: 8, prefix: includePrefix ? "0o" : "", sign: explicitPositiveSign ? "+" : "", isUppercase: uppercase,
            minDigits: minDigits())
    }

    private let radix: Int
    private let prefix: String
    private let sign: String
    private let isUppercase: Bool
    private let minDigits: Int

    func text<T: FixedWidthInteger>(of number: T) -> String {
        let digits = String(number.magnitude, radix: radix, uppercase: isUppercase)
        return (number < 0 ? "-" : sign) + prefix + digits.padded(with: "0", to: minDigits, atEnd: false)
    }
}
