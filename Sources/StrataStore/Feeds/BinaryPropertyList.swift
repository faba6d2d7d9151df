/// The kinds of the objects in a binary property list. Other bytes have none.
package struct BinaryPropertyList {
    private static let trailerBytes = 32
    private let bytes: [UInt8]

    package init(_ bytes: some Sequence<UInt8>) { self.bytes = [UInt8](bytes) }

    /// True if an object is a set: Foundation ends the process instead of reading the list.
    package var hasSet: Bool { markers.contains { $0 & 0xF0 == 0xC0 } }

    /// The first bytes of all objects, which encode their kinds.
    private var markers: [UInt8] {
        let trailer = bytes.count - Self.trailerBytes
        guard bytes.starts(with: "bplist".utf8), trailer > 0,
            let objectCount = number(at: trailer + 8, byteCount: 8),
            let table = number(at: trailer + 24, byteCount: 8)
        else { return [] }
        let offsetBytes = Int(bytes[trailer + 6])
        guard (1...8).contains(offsetBytes), table <= trailer, objectCount <= (trailer - table) / offsetBytes else {
            return []
        }
        return (0..<objectCount).compactMap { index in
            let offset = number(at: table + index * offsetBytes, byteCount: offsetBytes)
            return offset.flatMap { $0 < bytes.count ? bytes[$0] : nil }
        }
    }

    /// Returns a big-endian number; nil if it exceeds the number of bytes in the list.
    private func number(at place: Int, byteCount: Int) -> Int? {
        var number = 0
        for byte in bytes[place..<place + byteCount] {
            guard number <= bytes.count else { return nil }
            number = number << 8 | Int(byte)
        }
        return number <= bytes.count ? number : nil
    }
}
