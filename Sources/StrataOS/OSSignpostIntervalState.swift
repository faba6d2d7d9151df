/// A begun interval.
public final class OSSignpostIntervalState: Sendable, Codable {
    let signpostID: OSSignpostID

    init(id: OSSignpostID) { signpostID = id }

    /// Returns the state of an interval that was begun elsewhere.
    public static func beginState(id: OSSignpostID) -> OSSignpostIntervalState { OSSignpostIntervalState(id: id) }

    public init(from decoder: any Decoder) throws {
        signpostID = OSSignpostID(try decoder.singleValueContainer().decode(UInt64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(signpostID.rawValue)
    }
}
