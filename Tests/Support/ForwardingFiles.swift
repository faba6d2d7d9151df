import StrataSystem

/// Files that forward every call to other files, except the calls that the type implements itself.
package protocol ForwardingFiles: FileSystem {
    var files: any FileSystem { get }
    /// Returns the file that stands for an open one.
    func forwarding(to file: any File) -> any File
    /// Returns the same around other files.
    func forwarding(to files: any FileSystem) -> any FileSystem
}

extension ForwardingFiles {
    package func open(_ path: String, _ mode: OpenMode) throws -> any File {
        forwarding(to: try files.open(path, mode))
    }
    package func exists(_ path: String) throws -> Bool { try files.exists(path) }
    package func makeDirectory(_ path: String) throws { try files.makeDirectory(path) }
    package func rename(_ source: String, to target: String) throws { try files.rename(source, to: target) }
    package func hardLink(_ source: String, to target: String) throws { try files.hardLink(source, to: target) }
    package func remove(_ path: String) throws { try files.remove(path) }
    package func list(_ directory: String) throws -> [String] { try files.list(directory) }
    package func syncDirectory(_ directory: String) throws { try files.syncDirectory(directory) }
    package func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? {
        try files.openSharedPage(path, use)
    }
    package func anchored(at directory: String) throws -> any FileSystem {
        forwarding(to: try files.anchored(at: directory))
    }
    package func checkAnchor() throws { try files.checkAnchor() }
    package func openDirectory(_ path: String) throws -> (any File)? {
        try files.openDirectory(path).map { forwarding(to: $0) }
    }
}
