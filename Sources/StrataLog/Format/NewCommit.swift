import StrataModel

/// A commit on its way into a log.
public struct NewCommit: Sendable {
    /// Tells a repeated append from a new one; the caller draws it at random.
    public var id: Identifier
    /// Microseconds since 1970, not before the time of the commit in front of it.
    public var time: Int64
    /// Changing it takes back what `prepare` worked out: the log would keep the old bytes under the new chain value.
    public var payload: ArraySlice<UInt8> { didSet { prepared = nil } }
    // What `prepare` worked out ahead of time; nil where it has not been called.
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
