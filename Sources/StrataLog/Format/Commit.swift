import StrataModel

/// A commit as stored in the log.
package struct Commit: Sendable, Equatable {
    package var offset: UInt64
    package var id: Identifier
    package var time: Int64
    /// The chain value after this commit.
    package var chain: UInt32
    package var payload: ArraySlice<UInt8>

    package init(offset: UInt64, id: Identifier, time: Int64, chain: UInt32, payload: ArraySlice<UInt8>) {
        self.offset = offset
        self.id = id
        self.time = time
        self.chain = chain
        self.payload = payload
    }

    package var position: Position { Position(offset: offset, chain: chain) }
}

/// Finds the touches of a payload. The log knows nothing else about records and zones.
package typealias TouchFunction = @Sendable (UnsafeRawBufferPointer) throws -> [Touch]
