import StrataModel

/// A commit as stored in the log.
public struct Commit: Sendable, Equatable {
    public var offset: UInt64
    public var id: Identifier
    public var time: Int64
    /// The chain value after this commit.
    public var chain: UInt32
    public var payload: ArraySlice<UInt8>

    public init(offset: UInt64, id: Identifier, time: Int64, chain: UInt32, payload: ArraySlice<UInt8>) {
        self.offset = offset
        self.id = id
        self.time = time
        self.chain = chain
        self.payload = payload
    }

    public var position: Position { Position(offset: offset, chain: chain) }
}

/// Finds the touches of a payload. The log knows nothing else about records and zones.
public typealias TouchFunction = @Sendable (UnsafeRawBufferPointer) throws -> [Touch]
