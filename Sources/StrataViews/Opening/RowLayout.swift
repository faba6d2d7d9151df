import StrataModel

/// The layout of a row that holds the body of an event: its version, its contributions to the digests, and the body.
enum RowLayout {
    static let body = 40

    static func version(
        of row: UnsafeRawBufferPointer, _ what: StaticString = "a row's version"
    ) throws -> Version {
        var reader = ByteReader(row)
        return try reader.readPackedVersion(what)
    }

    static func event<Body: EventBody>(in row: UnsafeRawBufferPointer) throws -> Body {
        var reader = ByteReader(row, at: body)
        return try Body(from: &reader)
    }
}
