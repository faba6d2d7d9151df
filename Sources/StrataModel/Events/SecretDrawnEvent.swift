/// The event that draws the secret of the store (docs/security.md §1). Nothing prints its bytes.
package struct SecretDrawnEvent: StatedEvent {
    package static let kind = EventKind.secretDrawn
    package static let shownFields = ShownFields<Self> {
        Shown("secret", "its number. Its bytes are never printed", after: "secret ") { $0.number }
    }
    package static let byteCount = 32

    /// The number of the secret, dense from 1.
    package var number: UInt64
    package var secret: [UInt8]
    package var original: Version?

    package init(number: UInt64, secret: [UInt8], original: Version? = nil) {
        self.number = number
        self.secret = secret
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        precondition(secret.count == Self.byteCount, "a store's secret has \(Self.byteCount) bytes")
        writer.appendVarint(number)
        writer.append(bytes: secret)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        number = try reader.readVarint("the number of a secret")
        var bytes = try reader.readReader(count: UInt64(Self.byteCount), "a secret")
        secret = Array(bytes.readRemainingBytes())
        original = try reader.readOriginal()
    }
}

extension SecretDrawnEvent: CustomStringConvertible, CustomReflectable {
    package var description: String { "secret \(number)" }
    package var customMirror: Mirror { Mirror(self, children: ["number": number]) }
}
