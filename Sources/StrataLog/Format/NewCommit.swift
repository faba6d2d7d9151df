import StrataModel

/// A commit on its way into a log.
public struct NewCommit: Sendable {
    /// Tells a repeated append from a new one; the caller draws it at random.
    public var id: Identifier
    /// The time in microseconds since 1970, at or after the time of the preceding commit.
    public var time: Int64
    /// Changing it discards the result of `prepare`: the log would keep the old bytes under the new chain value.
    public var payload: ArraySlice<UInt8> { didSet { prepared = nil } }
    // The result of `prepare`; nil until it is called.
    private(set) var prepared: PreparedPayload?

    public init(id: Identifier, time: Int64, payload: ArraySlice<UInt8>) {
        self.id = id
        self.time = time
        self.payload = payload
    }

    /// Does the work that needs no place in the log, compression above all, so that it can be done on any thread.
    mutating func prepare(touches: TouchFunction, pool: BufferPool) throws {
        if prepared == nil { prepared = try PreparedPayload(payload, touches: touches, pool: pool) }
    }
}
