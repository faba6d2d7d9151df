/// The user and device that make a request.
public struct Actor: Sendable, Hashable {
    /// The name of the user; empty if no user is signed in.
    public var user: String
    public var device: String

    public init(user: String, device: String = "default") {
        self.user = user
        self.device = device
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.user, right.user) && isSameText(left.device, right.device)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: user)
        hasher.combine(bytesOf: device)
    }

    /// The service itself, as the actor for operators and for users in Settings.
    public static let service = Actor(user: "_service", device: "")
}
