import Foundation

/// Collects the parts of an ``OSLogMessage`` from an interpolated string.
public struct OSLogInterpolation: StringInterpolationProtocol {
    var parts: [OSLogMessage.Part] = []

    public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

    public mutating func appendLiteral(_ literal: String) {
        if !literal.isEmpty { parts.append(.text(literal)) }
    }

    /// Appends a text, private by default.
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure () -> String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        append(argumentString(), align, privacy, isPublicByDefault: false)
    }

    /// Appends the description of a value, private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation<T: CustomStringConvertible>(
        _ value: @autoclosure () -> T, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        append(value().description, align, privacy, isPublicByDefault: false)
    }

    /// Appends the description of an object, private by default.
    public mutating func appendInterpolation(
        _ argumentObject: @autoclosure () -> NSObject, privacy: OSLogPrivacy = .auto
    ) {
        append(argumentObject().description, .none, privacy, isPublicByDefault: false)
    }

    /// Appends the description of an object or `nil`, private by default.
    public mutating func appendInterpolation(
        _ argumentObject: @autoclosure () -> NSObject?, privacy: OSLogPrivacy = .auto
    ) {
        append(argumentObject()?.description ?? "nil", .none, privacy, isPublicByDefault: false)
    }

    /// Appends an error, private by default.
    public mutating func appendInterpolation(
        _ argumentError: @autoclosure () -> any Error, privacy: OSLogPrivacy = .auto
    ) {
        append(String(describing: argumentError()), .none, privacy, isPublicByDefault: false)
    }

    /// Appends the name of a type, public by default.
    public mutating func appendInterpolation(
        _ value: @autoclosure () -> any Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        append(String(describing: value()), align, privacy, isPublicByDefault: true)
    }

    /// Appends an integer, public by default.
    public mutating func appendInterpolation<T: FixedWidthInteger>(
        _ number: @autoclosure () -> T, format: OSLogIntegerFormatting = .decimal, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        append(format.text(of: number()), align, privacy, isPublicByDefault: true)
    }

    /// Appends a number, public by default.
    public mutating func appendInterpolation(
        _ number: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        append(format.text(of: number()), align, privacy, isPublicByDefault: true)
    }

    /// Appends a number, public by default.
    public mutating func appendInterpolation(
        _ number: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        append(format.text(of: Double(number())), align, privacy, isPublicByDefault: true)
    }

    /// Appends `true` or `false`, or `yes` or `no`, public by default.
    public mutating func appendInterpolation(
        _ boolean: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
    ) {
        append(format.text(of: boolean()), .none, privacy, isPublicByDefault: true)
    }

    private mutating func append(
        _ text: String, _ alignment: OSLogStringAlignment, _ privacy: OSLogPrivacy, isPublicByDefault: Bool
    ) {
        parts.append(.value(text, alignment, privacy, isPublicByDefault: isPublicByDefault))
    }
}
