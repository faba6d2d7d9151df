extension String {
    /// Returns nil if the bytes are not valid UTF-8. Takes a quarter of the time of `String(validating:as:)`, which
    /// looks up types at run time for each text.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        // The caller keeps the bytes alive during the call, and the string is a copy.
        let span = unsafe RawSpan(_unsafeBytes: bytes)._unsafeView(as: UInt8.self)
        guard let valid = try? UTF8Span(validating: span) else { return nil }
        self = String(copying: valid)
    }
}

extension UnsafeRawBufferPointer {
    /// True if the bytes are valid UTF-8. Nearly all names are ASCII, and checking ASCII copies nothing.
    package var isUTF8: Bool {
        var place = 0
        while place + 8 <= count {
            if loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
            place += 8
        }
        while place < count, self[place] < 0x80 { place += 1 }
        return place == count || String(utf8: self) != nil
    }
}

extension String {
    /// Returns the longest prefix of whole Unicode scalars that fits in a number of bytes.
    package func cut(toBytes limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
