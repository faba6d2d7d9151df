import Foundation

/// The visibility of an interpolated value.
public struct OSLogPrivacy: Sendable {
    /// The replacement of a value that is not shown.
    public enum Mask: Sendable {
        /// Shows a hash: equal values of one process have the same. It cannot be looked up elsewhere.
        case hash
        /// Shows a placeholder.
        case none
    }

    private enum Visibility: Sendable { case auto, `public`, `private`, sensitive }

    /// Shows numbers, truth values and types, and hides everything else.
    public static var auto: OSLogPrivacy { auto(mask: .none) }
    /// Shows the value.
    public static var `public`: OSLogPrivacy { OSLogPrivacy(visibility: .public, mask: .none) }
    /// Hides the value, unless the program shows private data.
    public static var `private`: OSLogPrivacy { `private`(mask: .none) }
    /// Hides the value always.
    public static var sensitive: OSLogPrivacy { sensitive(mask: .none) }

    /// Shows numbers, truth values and types, and masks everything else.
    public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(visibility: .auto, mask: mask) }

    /// Masks the value, unless the program shows private data.
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(visibility: .private, mask: mask) }

    /// Masks the value always.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(visibility: .sensitive, mask: mask) }

    private let visibility: Visibility
    private let mask: Mask

    /// Returns the text to show instead of a value; nil if the value may be shown.
    func replacement(of value: String, isPublicByDefault: Bool, showsPrivateData: Bool) -> String? {
        switch visibility {
        case .public: return nil
        case .auto where isPublicByDefault || showsPrivateData: return nil
        case .private where showsPrivateData: return nil
        case .auto, .private, .sensitive: break
        }
        guard mask == .hash else { return visibility == .sensitive ? "<sensitive>" : "<private>" }
        // Seeded by the process: it cannot be compared with the hashes of known names.
        let hash = withUnsafeBytes(of: value.hashValue.littleEndian) { Data($0) }
        return "<mask.hash: '\(hash.base64EncodedString())'>"
    }
}
