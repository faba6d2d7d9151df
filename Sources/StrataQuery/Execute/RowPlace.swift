import StrataViews

/// A place among the rows of an index, where reading begins.
struct RowPlace {
    /// A kind and a value, or a prefix of them.
    var value: [UInt8]
    /// The record of the value after whose row reading begins; nil to begin with the first row.
    private var record: (name: [UInt8], zone: UInt64)?

    init(value: [UInt8]) { self.value = value }

    /// - Parameter tie: distinguishes the record from others with the value, as in a ``SortPlace``.
    init(value: [UInt8], afterTie tie: [UInt8]) throws {
        self.value = value
        record = try tie.withUnsafeBytes { tie in
            var reader = KeyReader(tie)
            return (try reader.readText(), try reader.readNumber())
        }
    }

    /// Returns the first key, after the prefix of the zone's rows, that may belong to a row after the place.
    func bytes(in zone: UInt64) -> [UInt8] {
        guard let record else { return value }
        // Rows with the same value and name are in the order of their zones.
        return value + record.name + (zone <= record.zone ? [0] : [])
    }

    /// Returns true if rows after the place may precede a kind and value.
    func precedes(_ upper: [UInt8]) -> Bool { (value + (record?.name ?? [])).lexicographicallyPrecedes(upper) }
}
