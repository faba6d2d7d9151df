/// A name as a dictionary key, equal to another one only if their bytes are.
package struct ExactName: Sendable, Hashable {
    package let text: String

    package init(text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { isSameText(left.text, right.text) }
    package func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}
