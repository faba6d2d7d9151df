import StrataSystem
import TestSupport

/// A file system under test with an empty directory of its own.
struct FileSystemFixture {
    enum Kind: CaseIterable {
        case real, simulated
    }

    let files: any FileSystem
    let directory: String
    // Held so that the directory lives as long as the fixture.
    private let owner: TestDirectory?

    init(_ kind: Kind) throws {
        switch kind {
        case .real:
            let directory = try TestDirectory()
            (files, self.directory, owner) = (RealFileSystem(), directory.path, directory)
        case .simulated:
            let disk = SimulatedDisk()
            try disk.makeDirectory("/work")
            (files, directory, owner) = (disk, "/work", nil)
        }
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    @discardableResult
    func makeFile(_ name: String, _ bytes: [UInt8] = []) throws -> any File {
        let file = try files.open(path(name), .create)
        try file.write(bytes, at: 0)
        return file
    }

    func content(_ name: String) throws -> [UInt8] { try files.readAll(path(name), atMost: 1 << 20) }
}
