/// A file that forwards every call to another file, except the calls that the type implements itself.
public protocol ForwardingFile: File {
    var file: any File { get }
}

extension ForwardingFile {
    public var path: String { file.path }
    public func size() throws -> Int { try file.size() }
    public func identity() throws -> FileIdentity { try file.identity() }
    public func status() throws -> FileStatus { try file.status() }
    public func shareContent(of source: any File) throws -> Bool { try file.shareContent(of: source) }
    public func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        try file.readSome(into: target, at: position)
    }
    public func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        try file.writeSome(source, at: position)
    }
    public func syncData() throws { try file.syncData() }
    public func finishWriteback(_ range: Range<Int>) { file.finishWriteback(range) }
    public func startWriteback(_ range: Range<Int>) { file.startWriteback(range) }
    public func allocate(_ range: Range<Int>) throws { try file.allocate(range) }
    public func truncate(to size: Int) throws { try file.truncate(to: size) }
    public func map(length: Int) throws -> any MappedMemory { try file.map(length: length) }
    public func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap {
        try file.mapGrowing(reserving: byteCount)
    }
    public func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws {
        try file.map(range, over: address)
    }
    public func tryLock() throws -> Bool { try file.tryLock() }
    public func tryLock(byte position: Int) throws -> Bool { try file.tryLock(byte: position) }
    public func unlock(byte position: Int) throws { try file.unlock(byte: position) }
    public func isLockedElsewhere(byte position: Int) throws -> Bool {
        try file.isLockedElsewhere(byte: position)
    }
    public func close() { file.close() }
}
