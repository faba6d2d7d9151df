/// A set of fields by their ordinals.
package struct FieldSet: Sendable {
    /// Stores count fields from 1 on; a damaged one may have any ordinal, which must not cost memory.
    private static let ordinalsInWords: UInt32 = 1 << 16

    private var words: [UInt64] = []
    private var others: Set<UInt32> = []

    package init(_ fields: some Sequence<UInt32>) {
        for field in fields {
            guard field < Self.ordinalsInWords else {
                others.insert(field)
                continue
            }
            let place = Int(field / 64)
            if place >= words.count { words += Array(repeating: 0, count: place + 1 - words.count) }
            words[place] |= 1 << UInt64(field % 64)
        }
    }

    package func contains(_ field: UInt32) -> Bool {
        guard field < Self.ordinalsInWords else { return others.contains(field) }
        let place = Int(field / 64)
        return place < words.count && words[place] >> UInt64(field % 64) & 1 == 1
    }
}
