import StrataSystem

/// Where pages go that do not fit memory: a file that is made when there are such, and has no name.
public struct SpillPlace: Sendable {
    let files: any FileSystem
    let path: String

    /// - Parameter path: what the file is called for a moment.
    public init(_ files: any FileSystem, path: String) {
        self.files = files
        self.path = path
    }
}
