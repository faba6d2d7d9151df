extension Version {
    /// Unpacks a version from its ``packed`` form, of which 63 bits may be set.
    public init(packed: UInt64) {
        self.init(offset: packed >> Self.eventBits & Self.maximumOffset, eventIndex: UInt32(packed & 0xF_FFFF))
    }
}

extension ByteReader {
    /// Reads a packed version; nil for 0, which means none.
    mutating func readVersion(_ what: StaticString) throws -> Version? {
        let packed = try readVarint(what, atMost: UInt64.max >> 1)
        return packed == 0 ? nil : Version(packed: packed)
    }
}

extension ByteWriter {
    mutating func appendVersion(_ version: Version?) { appendVarint(version?.packed ?? 0) }
}
