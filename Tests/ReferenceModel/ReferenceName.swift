import StrataModel

/// A name that is the same as another only if their bytes are.
package struct ReferenceName: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }
    package static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
    /// Equal bytes are equal texts, so that the text's own hash will do.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package static let defaultZone: ReferenceName = "_defaultZone"
    package static let users: ReferenceName = "Users"
    package static let share: ReferenceName = "cloudkit.share"
    package static let zoneShare: ReferenceName = "cloudkit.zoneshare"

    /// 1 to 255 characters, which are UTF-16 units.
    var isOfLegalLength: Bool { !text.isEmpty && text.utf16.count <= 255 }

    /// Of a record or zone that is made by a request.
    var isLegalForNew: Bool {
        isOfLegalLength && !text.hasPrefix("_")
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// Of a record type or a key: a letter, then letters, digits and `_`, all ASCII.
    var isLegalWord: Bool {
        guard let first = text.unicodeScalars.first, Self.isLetter(first), text.utf8.count <= 255 else { return false }
        return text.unicodeScalars.allSatisfy { Self.isLetter($0) || ("0"..."9").contains($0) || $0 == "_" }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
}
