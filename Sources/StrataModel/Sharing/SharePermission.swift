/// The permission of a participant, or of everybody with a share's URL. The numbers are CloudKit's, and on disk.
package enum SharePermission: UInt8, Sendable, CaseIterable, Comparable {
    case none = 1, readOnly, readWrite

    package var name: String { self == .readWrite ? "read and write" : words(of: self) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The role of a participant in a share. The numbers are CloudKit's, and on disk.
package enum ShareRole: UInt8, Sendable, CaseIterable {
    case owner = 1, administrator, privateUser, publicUser

    package var name: String { words(of: self) }
}
