/// Collects the entries of a field table, then writes them. Successive tables reuse its memory.
///
/// ```swift
/// try builder.append(1, .string("Groceries"))
/// try builder.append(4, .int64(3))
/// builder.finish(into: &writer)
/// ```
package struct FieldTableBuilder: Sendable {
    private var ordinals: [UInt32] = []
    private var ends: [UInt32] = []
    private var values = ByteWriter()

    package init() {}

    /// - Throws: ``StrataError`` if the field is not above the previous one, or the table is full.
    package mutating func append(_ field: UInt32, _ value: FieldValue) throws {
        try begin(field)
        try value.encode(into: &values)
        try end()
    }

    /// Appends an encoded value.
    package mutating func append(_ field: UInt32, encoded value: UnsafeRawBufferPointer) throws {
        try begin(field)
        values.append(raw: value)
        try end()
    }

    /// - Parameter ordinals: the ordinals of the fields that the changes number from 1; nil if they have ordinals.
    mutating func append(_ changes: [FieldChange], of ordinals: [UInt32]? = nil) throws {
        // By index, because a loop over the changes would copy each value.
        for index in changes.indices {
            let field = changes[index].field
            try begin(ordinals.map { $0[Int(field) - 1] } ?? field)
            try changes[index].encode(into: &values)
            try end()
        }
    }

    private mutating func begin(_ field: UInt32) throws {
        guard field > ordinals.last ?? 0 else {
            throw StrataError(
                .invalidArgument, "The fields of a record are not in the order of their ordinals.",
                .init(expected: "more than \(ordinals.last ?? 0)", found: "\(field)"))
        }
        guard ordinals.count < FieldTable.maximumCount else {
            throw StrataError.tooLarge(
                "the number of fields", limit: FieldTable.maximumCount, found: ordinals.count + 1)
        }
        ordinals.append(field)
    }

    private mutating func end() throws {
        guard let end = UInt32(exactly: values.bytes.count) else {
            throw StrataError.tooLarge("the values' bytes", limit: Int(UInt32.max), found: values.bytes.count)
        }
        ends.append(end)
    }

    /// Appends the table to a writer and begins the next table.
    package mutating func finish(into writer: inout ByteWriter) {
        writer.appendVarint(UInt64(ordinals.count))
        if let last = ordinals.last, let length = ends.last {
            let widths = (FieldTable.width(of: last), FieldTable.width(of: length))
            writer.append(UInt8(widths.0 | widths.1 << 4))
            writer.append(ordinals, bytesEach: widths.0)
            writer.append(ends, bytesEach: widths.1)
            values.bytes.withUnsafeBytes { writer.append(raw: $0) }
        }
        removeAll()
    }

    /// Discards the collected entries, as after an error.
    package mutating func removeAll() {
        ordinals.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        values.removeAll()
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ numbers: [UInt32], bytesEach width: Int) {
        switch width {
        case 1: for number in numbers { append(byte: UInt8(truncatingIfNeeded: number)) }
        case 2: for number in numbers { append(UInt16(truncatingIfNeeded: number)) }
        default: for number in numbers { append(number) }
        }
    }
}
