/// The name of a zone within a database. Names are equal only if their bytes are.
public struct ZoneID: Sendable, Hashable {
    public var name: String
    /// The name of the user; empty for the user who makes the request.
    public var owner: String

    /// The name of the zone that every private and public database has.
    public static let defaultName = "_defaultZone"
    /// The default zone of the user who makes the request.
    public static let `default` = ZoneID(defaultName)

    /// True if the zone is the default zone of its database.
    public var isDefault: Bool { isSameText(name, Self.defaultName) }

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
