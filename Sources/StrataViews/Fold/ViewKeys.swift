import StrataModel

/// The keys of the trees. Each tree's layout is declared with its ``ViewMaintainer``.
enum ViewKeys {
    /// Calls `body` with the bounds of the keys that begin with a number.
    static func withBounds<Result>(
        ofNumber number: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let lower = ViewKeys.numbers(number)
        // Encoded numbers sort by value, and none begins with FF.
        let upper = number == .max ? [0xFF] : ViewKeys.numbers(number + 1)
        return try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }

    static func numbers(_ numbers: UInt64...) -> [UInt8] {
        var key = KeyWriter()
        for number in numbers { key.append(number: number) }
        return key.bytes
    }
}
