/// A zone by name, within a database. Names are the same only if their bytes are.
public struct ZoneID: Sendable, Hashable {
    public var name: String
    /// Name of the user; empty for whoever asks.
    public var owner: String

    public init(_ name: String, owner: String = "") {
        self.name = name
        self.owner = owner
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.name, right.name) && isSameText(left.owner, right.owner)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: name)
        hasher.combine(bytesOf: owner)
    }
}
