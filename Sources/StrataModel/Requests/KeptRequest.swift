/// A request that came to nothing, as far as its note keeps it: whole, or its length alone.
package struct KeptRequest: Sendable, Hashable {
    package static let maximumBytes = 256 << 10

    /// The whole request, encoded; nil if it was not kept.
    package internal(set) var bytes: [UInt8]?
    /// The length of a request that was not kept; 0 if that is unknown.
    package internal(set) var byteCount: UInt64 = 0

    /// Keeps the request, or only its length if it is larger than ``maximumBytes``.
    init(_ bytes: [UInt8]?) {
        self.bytes = bytes
        if let bytes, bytes.count > Self.maximumBytes { drop() }
    }

    /// Keeps only the length of the request.
    package mutating func drop() {
        guard let bytes else { return }
        byteCount = UInt64(bytes.count)
        self.bytes = nil
    }
}
