import StrataSystem

/// The place for pages that do not fit in memory: an unnamed file, created on demand.
package struct SpillPlace: Sendable {
    let files: any FileSystem
    let path: String

    /// - Parameter path: the name of the file for a moment.
    package init(_ files: any FileSystem, path: String) {
        self.files = files
        self.path = path
    }
}
