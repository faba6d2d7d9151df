extension FieldValue {
    /// The bytes that count toward a record's size (docs/rules.md §6).
    public var chargedBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .int64, .double, .date: 8
        case .location: 16
        case .data(let bytes): bytes.count
        case .reference(let reference): reference.target.name.utf8.count
        case .asset: 0
        case .list(let list): list.elements.reduce(0) { $0 + $1.chargedBytes }
        case .sealed(let sealed): sealed.ciphertext.count
        }
    }

    /// The bytes that count toward the user's quota, including the files of assets.
    public var usedBytes: Int {
        switch self {
        case .asset(let asset): Int(min(asset.size, UInt64(Self.maximumUsedBytes)))
        case .list(let list) where list.kind.element == .asset: list.elements.reduce(0) { $0 + $1.usedBytes }
        default: chargedBytes
        }
    }

    /// The maximum bytes counted for a file, or for a record with its files, so that sums of client data cannot
    /// overflow.
    public static let maximumUsedBytes = 1 << 40

    /// Returns ``usedBytes`` of an encoded value, which is decoded only if its length does not determine them.
    public static func usedBytes(of bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws -> Int {
        guard let first = range.first else { return 0 }
        switch FieldKind(rawValue: bytes[first]) {
        case .string, .data: return range.count - 1
        case .int64, .double, .date: return 8
        case .location: return 16
        default: return try FieldValue(decoding: bytes, in: range).usedBytes
        }
    }
}
