import StrataSystem

/// Files that are written and synced twice, which whatever counts must notice.
struct DoubledFiles: ForwardingFiles {
    let files: any FileSystem

    init(_ files: any FileSystem) { self.files = files }

    func forwarding(to file: any File) -> any File { DoubledFile(file) }
    func forwarding(to files: any FileSystem) -> any FileSystem { DoubledFiles(files) }

    func syncDirectory(_ directory: String) throws {
        for _ in 0..<2 { try files.syncDirectory(directory) }
    }
}

private final class DoubledFile: ForwardingFile {
    let file: any File

    init(_ file: any File) { self.file = file }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        _ = try file.writeSome(source, at: position)
        return try file.writeSome(source, at: position)
    }

    func syncData() throws {
        for _ in 0..<2 { try file.syncData() }
    }
}
