import StrataModel

/// Everybody who may come through a ``SharedDoor`` of ``SharedStore``.
enum SharedPerson: String, CaseIterable, Sendable {
    case owner = "anna"
    case administrator = "adam"
    case writer = "ben"
    case reader = "cleo"
    /// A participant with the permission none.
    case unpermitted = "dora"
    case left = "erik"
    case stranger = "fred"
    /// A member of the public share alone.
    case publicMember = "paul"
    case removed = "rita"
    /// Somebody who is not signed in.
    case guest = ""

    var actor: Actor { Actor(user: rawValue, device: "phone") }

    /// The records that the person sees in the shared database; nobody sees their own there.
    var seen: Set<String> {
        switch self {
        case .administrator, .writer, .reader: Set(SharedDoor.seen)
        case .publicMember: ["Share-3", "p"]
        case .owner, .unpermitted, .left, .stranger, .removed, .guest: []
        }
    }

    var mayWrite: Bool { self == .administrator || self == .writer }

    /// The records that the person gets who opens all three URLs and asks for the roots (B343, B344).
    var opened: Set<String> {
        switch self {
        case .owner: ["Share-1", "Share-2", "Share-3", "r", "q", "p"]
        case .administrator, .writer, .reader: ["Share-1", "Share-3", "r", "p"]
        case .unpermitted: ["Share-1", "Share-3", "p"]
        case .left, .stranger, .publicMember, .removed: ["Share-3", "p"]
        case .guest: []
        }
    }
}
