import StrataModel

/// Writes one line of JSON. Keys appear in the order of the calls.
///
/// ```swift
/// var json = JSONWriter(output)
/// json.beginObject()
/// try json.field("offset", 12)
/// json.endObject()
/// try output.endLine()
/// ```
struct JSONWriter {
    private let output: Output
    private var needsComma = false

    init(_ output: Output) { self.output = output }

    mutating func beginObject(_ key: StaticString? = nil) { begin(key, UInt8(ascii: "{")) }
    mutating func endObject() { end(UInt8(ascii: "}")) }
    mutating func beginArray(_ key: StaticString? = nil) { begin(key, UInt8(ascii: "[")) }
    mutating func endArray() { end(UInt8(ascii: "]")) }

    mutating func field(_ key: StaticString, _ value: some JSONValue) throws {
        self.key(key)
        try value.write(to: &self)
    }

    /// Writes a key. The next call writes its value, object or array.
    mutating func key(_ key: StaticString) {
        write(key)
        needsComma = false
    }

    /// Writes a key that is not known in advance. The next call writes its value, object or array.
    mutating func key(_ text: String) {
        separate()
        write(text)
        output.write(UInt8(ascii: ":"))
        needsComma = false
    }

    mutating func value(_ text: String) {
        separate()
        write(text)
    }

    mutating func value(_ number: UInt64) {
        separate()
        output.write(decimal: number)
    }

    mutating func value(_ number: Int64) {
        separate()
        if number < 0 { output.write(UInt8(ascii: "-")) }
        output.write(decimal: number.magnitude)
    }

    /// Writes numbers that JSON lacks as text: `"nan"`, `"inf"`, `"-inf"`.
    mutating func value(_ number: Double) {
        guard number.isFinite else { return value("\(number)") }
        separate()
        output.write("\(number)")
    }

    mutating func value(_ answer: Bool) {
        separate()
        output.write(answer ? "true" as StaticString : "false")
    }

    mutating func value(_ identifier: Identifier) {
        separate()
        output.write(UInt8(ascii: "\""))
        output.write(hexadecimal: identifier.high)
        output.write(hexadecimal: identifier.low)
        output.write(UInt8(ascii: "\""))
    }

    mutating func value(hexadecimal number: UInt32) {
        separate()
        output.write(UInt8(ascii: "\""))
        output.write(hexadecimal: number)
        output.write(UInt8(ascii: "\""))
    }

    mutating func nullValue() {
        separate()
        output.write("null" as StaticString)
    }

    private mutating func begin(_ key: StaticString?, _ bracket: UInt8) {
        if let key { write(key) } else { separate() }
        output.write(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        output.write(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { output.write(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func write(_ key: StaticString) {
        separate()
        output.write(UInt8(ascii: "\""))
        output.write(key)
        output.write("\":" as StaticString)
    }

    private func write(_ text: String) {
        var text = text
        output.write(UInt8(ascii: "\""))
        text.withUTF8 { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
                output.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<index]))
                writeEscape(byte)
                start = index + 1
            }
            output.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start...]))
        }
        output.write(UInt8(ascii: "\""))
    }

    private func writeEscape(_ byte: UInt8) {
        output.write(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5C: output.write(byte)
        case 0x08: output.write(UInt8(ascii: "b"))
        case 0x09: output.write(UInt8(ascii: "t"))
        case 0x0A: output.write(UInt8(ascii: "n"))
        case 0x0C: output.write(UInt8(ascii: "f"))
        case 0x0D: output.write(UInt8(ascii: "r"))
        default:
            output.write("u00" as StaticString)
            output.write(hexadecimal: byte)
        }
    }
}
