/// A zone by name, within a database. Names are the same only if their bytes are.
public struct ZoneID: Sendable, Hashable {
    public var name: String
    /// The name of the user; empty for the user who makes the request.
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
