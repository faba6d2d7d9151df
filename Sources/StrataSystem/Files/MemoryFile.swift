import CStrata
import Glibc
import StrataModel

/// Files that are only in memory, for stores that leave none.
package enum MemoryFile {
    /// Creates an empty file, which ends when it is closed.
    ///
    /// - Parameter name: shown to people who look at the files of the process.
    package static func create(_ name: String) throws -> any File {
        let descriptor = strata_open_memory(name)
        guard descriptor >= 0 else { throw StrataError.systemCall("memfd_create", path: name, errno: errno) }
        return RealFile(path: name, descriptor: descriptor)
    }
}
