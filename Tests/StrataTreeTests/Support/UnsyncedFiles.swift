import StrataSystem
import TestSupport

/// Files of which some are never synced, though their syncs succeed.
struct UnsyncedFiles: ForwardingFiles {
    let files: any FileSystem
    /// The end of the names of these files.
    let suffix: String

    func forwarding(to file: any File) -> any File {
        file.path.hasSuffix(suffix) ? UnsyncedFile(file: file) : file
    }

    func forwarding(to files: any FileSystem) -> any FileSystem { UnsyncedFiles(files: files, suffix: suffix) }
}

private final class UnsyncedFile: ForwardingFile {
    let file: any File

    init(file: any File) { self.file = file }

    func syncData() throws {}
}
