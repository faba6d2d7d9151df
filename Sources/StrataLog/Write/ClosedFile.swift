import StrataModel
import StrataSystem

/// Stands where a closed log had its file.
final class ClosedFile: File {
    let path: String

    init(path: String) { self.path = path }

    private var error: StrataError { StrataError(.closed, "The log has been closed.", .init(path: path)) }

    func size() throws -> Int { throw error }
    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int { throw error }
    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int { throw error }
    func syncData() throws { throw error }
    func finishWriteback(_ range: Range<Int>) {}
    func allocate(_ range: Range<Int>) throws { throw error }
    func truncate(to size: Int) throws { throw error }
    func map(length: Int) throws -> any MappedMemory { throw error }
    func tryLock() throws -> Bool { throw error }
    func close() {}
}
