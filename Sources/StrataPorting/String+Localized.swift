import Foundation

extension String {
    /// Looks a text up in a table of a bundle, and puts the interpolated values into it.
    ///
    /// ```swift
    /// let title = String(localized: "\(count) notes of \(user)")  // looks "%lld notes of %@" up
    /// ```
    /// - Parameters:
    ///   - key: The text, which is used as it is if the table does not have it.
    ///   - table: The name of the table; nil for `Localizable`.
    ///   - bundle: The bundle with the table; nil for the main one.
    ///   - locale: The locale that numbers are written for.
    ///   - comment: An explanation for translators.
    public init(
        localized key: LocalizationValue, table: String? = nil, bundle: Bundle? = nil, locale: Locale = .current,
        comment: StaticString? = nil
    ) {
        let format = (bundle ?? .main).localizedString(forKey: key.format, value: nil, table: table)
        self = key.arguments.isEmpty ? format : String(format: format, locale: locale, arguments: key.arguments)
    }

    /// A text to be looked up, with the values that are put into it.
    public struct LocalizationValue: ExpressibleByStringInterpolation {
        fileprivate let format: String
        fileprivate let arguments: [any CVarArg]

        public init(_ value: String) { self.init(stringLiteral: value) }

        public init(stringLiteral value: String) { (format, arguments) = (value, []) }

        public init(stringInterpolation: StringInterpolation) {
            let parts = stringInterpolation
            (format, arguments) = (parts.arguments.isEmpty ? parts.plain : parts.format, parts.arguments)
        }

        /// Collects the text and the values.
        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var plain = ""
            fileprivate var format = ""
            fileprivate var arguments: [any CVarArg] = []

            public init(literalCapacity: Int, interpolationCount: Int) {}

            public mutating func appendLiteral(_ literal: String) {
                plain += literal
                format += literal.replacingOccurrences(of: "%", with: "%%")
            }

            public mutating func appendInterpolation<Value: BinaryInteger>(_ value: Value) {
                append(Value.isSigned ? "%lld" : "%llu", Int64(truncatingIfNeeded: value))
            }

            public mutating func appendInterpolation(_ value: Double) { append("%lf", value) }

            public mutating func appendInterpolation<Value>(_ value: Value) {
                append("%@", NSString(string: String(describing: value)))
            }

            private mutating func append(_ place: String, _ value: any CVarArg) {
                format += place
                arguments.append(value)
            }
        }
    }
}
