import Glibc
import StrataModel

/// The directory for files that are not kept.
package enum TemporaryDirectory {
    /// `$TMPDIR`, else `/tmp`.
    package static var path: String {
        guard let named = getenv("TMPDIR"), case let path = String(cString: named), path.hasPrefix("/") else {
            return "/tmp"
        }
        return path
    }

    /// Creates a directory with a unique name; the caller removes it.
    ///
    /// ```swift
    /// let folder = try TemporaryDirectory.make("strata-test")
    /// ```
    /// - Parameter name: the beginning of the directory's name.
    package static func make(_ name: String, in parent: String = path) throws -> String {
        // The system replaces these letters.
        let letters = String(repeating: "X", count: 6)
        var template = Array("\(parent)/\(name)-\(letters)".utf8CString)
        guard mkdtemp(&template) != nil else { throw StrataError.systemCall("mkdtemp", path: parent, errno: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
