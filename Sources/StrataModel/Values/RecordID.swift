/// The name of a record within a database.
public struct RecordID: Sendable, Hashable {
    public var name: String
    public var zone: ZoneID

    public init(_ name: String, zone: ZoneID) {
        self.name = name
        self.zone = zone
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.name, right.name) && left.zone == right.zone
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: name)
        hasher.combine(zone)
    }
}
