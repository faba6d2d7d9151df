import Foundation

/// Encodes bytes as text (RFC 4648 §4, with padding).
enum Base64 {
    static func text(_ bytes: some Collection<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// Returns nil for text that ``text(_:)`` does not produce.
    static func bytes(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        // The remaining bits of the last digit must be 0, or two texts would encode the same bytes.
        guard let bytes = Data(base64Encoded: Data(text)), bytes.base64EncodedData().elementsEqual(text) else {
            return nil
        }
        return [UInt8](bytes)
    }
}
