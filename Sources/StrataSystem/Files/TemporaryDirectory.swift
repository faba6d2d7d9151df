import Glibc
import StrataModel

/// Where files go that nobody keeps.
public enum TemporaryDirectory {
    /// `$TMPDIR`, else `/tmp`.
    public static var path: String {
        guard let named = getenv("TMPDIR"), case let path = String(cString: named), path.hasPrefix("/") else {
            return "/tmp"
        }
        return path
    }

    /// Makes a directory that nobody else has, for whoever calls to remove.
    ///
    /// ```swift
    /// let folder = try TemporaryDirectory.make("strata-test")
    /// ```
    /// - Parameter name: what its name begins with.
    public static func make(_ name: String, in parent: String = path) throws -> String {
        // The system puts other letters into the place of these.
        let letters = String(repeating: "X", count: 6)
        var template = Array("\(parent)/\(name)-\(letters)".utf8CString)
        guard mkdtemp(&template) != nil else { throw StrataError.systemCall("mkdtemp", path: parent, errno: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
