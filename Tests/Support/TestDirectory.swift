import Glibc
import StrataSystem

/// A directory of its own under the temporary directory, removed with everything in it when the object goes.
///
/// ```swift
/// let directory = try TestDirectory()
/// let store = directory.path("Notes.strata")
/// ```
package final class TestDirectory: Sendable {
    package let path: String

    package init() throws {
        path = try TemporaryDirectory.make("strata-test")
    }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    deinit { Self.removeAll(path) }

    /// What cannot be removed is left to whoever cleans the temporary directory.
    private static func removeAll(_ directory: String) {
        for name in (try? RealFileSystem().list(directory)) ?? [] {
            let entry = "\(directory)/\(name)"
            // A link to a directory is unlinked here, so nothing outside is ever followed.
            if unlink(entry) != 0 { removeAll(entry) }
        }
        rmdir(directory)
    }
}
