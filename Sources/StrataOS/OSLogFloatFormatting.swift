import Foundation

/// The notation of an interpolated floating-point number.
public struct OSLogFloatFormatting: Sendable {
    /// Decimal digits without an exponent, six of them after the point.
    public static var fixed: OSLogFloatFormatting { make("f") }
    /// Hexadecimal digits with an exponent of 2.
    public static var hex: OSLogFloatFormatting { make("a") }
    /// Decimal digits with an exponent of 10.
    public static var exponential: OSLogFloatFormatting { make("e") }
    /// The shorter of the fixed and the exponential notation.
    public static var hybrid: OSLogFloatFormatting { make("g") }

    /// Decimal digits without an exponent.
    public static func fixed(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting {
        make("f", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// Decimal digits without an exponent, `precision` of them after the point.
    public static func fixed(
        precision: @autoclosure () -> Int, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        make("f", precision: precision(), hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// Hexadecimal digits with an exponent of 2.
    public static func hex(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting {
        make("a", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// Decimal digits with an exponent of 10.
    public static func exponential(
        explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        make("e", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// Decimal digits with an exponent of 10, `precision` of them after the point.
    public static func exponential(
        precision: @autoclosure () -> Int, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        make("e", precision: precision(), hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// The shorter of the fixed and the exponential notation.
    public static func hybrid(explicitPositiveSign: Bool = false, uppercase: Bool = false) -> OSLogFloatFormatting {
        make("g", hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    /// The shorter of the fixed and the exponential notation, with `precision` significant digits.
    public static func hybrid(
        precision: @autoclosure () -> Int, explicitPositiveSign: Bool = false, uppercase: Bool = false
    ) -> OSLogFloatFormatting {
        make("g", precision: precision(), hasSign: explicitPositiveSign, isUppercase: uppercase)
    }

    private static let highestPrecision = 100

    private static func make(
        _ conversion: String, precision: Int? = nil, hasSign: Bool = false, isUppercase: Bool = false
    ) -> OSLogFloatFormatting {
        let digits = precision.map { ".\(min(max(0, $0), highestPrecision))" } ?? ""
        return OSLogFloatFormatting(
            format: "%\(hasSign ? "+" : "")\(digits)\(isUppercase ? conversion.uppercased() : conversion)")
    }

    /// The format of C, made from the parameters alone.
    private let format: String

    func text(of number: Double) -> String { String(format: format, number) }
}
