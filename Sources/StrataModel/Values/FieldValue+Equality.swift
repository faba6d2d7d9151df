extension FieldValue: Hashable {
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): isSameText(left, right)
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
            left.bitPattern == right.bitPattern
        case (.data(let left), .data(let right)): left == right
        case (.location(let left), .location(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.asset(let left), .asset(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.sealed(let left), .sealed(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .string(let text): hasher.combine(bytesOf: text)
        case .int64(let number): hasher.combine(number)
        case .double(let number), .date(let number): hasher.combine(number.bitPattern)
        case .data(let bytes): hasher.combine(bytes)
        case .location(let location): hasher.combine(location)
        case .reference(let reference): hasher.combine(reference)
        case .asset(let asset): hasher.combine(asset)
        case .list(let list): hasher.combine(list)
        case .sealed(let sealed): hasher.combine(sealed)
        }
    }
}

extension FieldValue.Location: Hashable {
    private var bits: [UInt64] {
        [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp]
            .map(\.bitPattern)
    }

    public static func == (left: Self, right: Self) -> Bool { left.bits == right.bits }
    public func hash(into hasher: inout Hasher) { hasher.combine(bits) }
}

extension Hasher {
    /// Hashes a text consistently with `isSameText`.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        combine(0xFF as UInt8)
    }
}
