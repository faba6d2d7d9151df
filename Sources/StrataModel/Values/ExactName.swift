/// A name as a dictionary key, equal to another one only if their bytes are.
public struct ExactName: Sendable, Hashable {
    public let text: String

    public init(text: String) { self.text = text }

    public static func == (left: Self, right: Self) -> Bool { isSameText(left.text, right.text) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}
