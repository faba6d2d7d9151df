import Glibc

/// Where files go that nobody keeps.
public enum TemporaryDirectory {
    /// `$TMPDIR`, else `/tmp`.
    public static var path: String {
        guard let named = getenv("TMPDIR"), case let path = String(cString: named), path.hasPrefix("/") else {
            return "/tmp"
        }
        return path
    }
}
