import StrataSystem

/// A file that forwards every call to another file, except the calls that the type implements itself.
package protocol ForwardingFile: File {
    var file: any File { get }
}

extension ForwardingFile {
    package var path: String { file.path }
    package func size() throws -> Int { try file.size() }
    package func identity() throws -> FileIdentity { try file.identity() }
    package func status() throws -> FileStatus { try file.status() }
    package func touch() throws { try file.touch() }
    package func shareContent(of source: any File) throws -> Bool { try file.shareContent(of: source) }
    package func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        try file.readSome(into: target, at: position)
    }
    package func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        try file.writeSome(source, at: position)
    }
    package func syncData() throws { try file.syncData() }
    package func finishWriteback(_ range: Range<Int>) { file.finishWriteback(range) }
    package func startWriteback(_ range: Range<Int>) { file.startWriteback(range) }
    package func allocate(_ range: Range<Int>) throws { try file.allocate(range) }
    package func truncate(to size: Int) throws { try file.truncate(to: size) }
    package func map(length: Int) throws -> any MappedMemory { try file.map(length: length) }
    package func tryLock() throws -> Bool { try file.tryLock() }
    package func close() { file.close() }
}
