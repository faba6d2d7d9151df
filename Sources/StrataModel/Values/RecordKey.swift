/// The location of a record in the store: the ordinal of its zone, and its name.
///
/// ```swift
/// RecordKey(zone: 3, name: "note-1")
/// ```
public struct RecordKey: Sendable, Hashable {
    public var zone: UInt64
    public var name: String

    public init(zone: UInt64, name: String) {
        self.zone = zone
        self.name = name
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.zone == right.zone && isSameText(left.name, right.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(zone)
        hasher.combine(bytesOf: name)
    }
}
