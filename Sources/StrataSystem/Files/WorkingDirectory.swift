import Glibc

/// The directory that relative paths start from.
package enum WorkingDirectory {
    package static func absolutePath(of path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let bytes = getcwd(nil, 0) else { return "./" + path }
        defer { free(bytes) }
        return String(cString: bytes) + "/" + path
    }
}
