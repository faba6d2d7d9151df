import StrataLog
import StrataModel

/// Replaces the bytes of a store's secrets by zeros, so that raw bytes can be printed (docs/security.md §1).
struct SecretMask {
    private static let zeros = [UInt8](repeating: 0, count: SecretDrawnEvent.byteCount)
    /// The kind and the length of an event with the first secret, and the secret's number. Nothing more is known of a
    /// damaged frame.
    private static let beginning: [UInt8] = [UInt8(EventKind.secretDrawn.rawValue), 34, 1]

    /// The secrets in the log, as far as it can be read.
    private var secrets: [[UInt8]] = []

    init(of path: String) {
        guard let reader = try? LogReader.open(at: path, requiresWholeEnd: false) else { return }
        if var base = try? reader.readBase() {
            while secrets.isEmpty, let payload = try? base.next() { secrets += Self.secrets(in: payload) }
        }
        guard secrets.isEmpty, var cursor = try? reader.read(from: reader.floor.offset + 1) else { return }
        while secrets.isEmpty, let commit = try? cursor.next() { secrets += Self.secrets(in: commit.payload) }
    }

    /// Returns a payload whose secrets are zeros.
    static func masked(_ payload: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var payload = payload
        for secret in secrets(in: payload) { replace(secret, in: &payload) }
        return payload
    }

    static func secrets(in payload: ArraySlice<UInt8>) -> [[UInt8]] {
        payload.withUnsafeBytes { bytes in
            var secrets: [[UInt8]] = []
            guard var walker = try? EventWalker(bytes) else { return [] }
            while let event = try? walker.next() {
                guard event.kind == .secretDrawn else { continue }
                let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                if let drawn = try? SecretDrawnEvent(decoding: body) { secrets.append(drawn.secret) }
            }
            return secrets
        }
    }

    /// Masks stored bytes, which may be compressed: a secret is random, so it is stored as it is.
    func masked(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        for secret in secrets { Self.replace(secret, in: &bytes) }
        var rest = bytes[...]
        while let place = rest.firstRange(of: Self.beginning) {
            let end = min(place.upperBound + Self.zeros.count, bytes.endIndex)
            bytes.replaceSubrange(place.upperBound..<end, with: Self.zeros.prefix(end - place.upperBound))
            rest = bytes[end...]
        }
        return bytes
    }

    private static func replace(_ secret: [UInt8], in bytes: inout ArraySlice<UInt8>) {
        guard secret != zeros else { return }
        while let place = bytes.firstRange(of: secret) { bytes.replaceSubrange(place, with: zeros) }
    }
}
