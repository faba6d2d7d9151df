import StrataModel

/// A commit to be appended to a log.
package struct NewCommit: Sendable {
    /// Distinguishes a repeated append from a new one; the caller chooses it at random.
    package var id: Identifier
    /// The time in microseconds since 1970, at or after the time of the preceding commit.
    package var time: Int64
    /// Changing it discards the result of `prepare`: the log would keep the old bytes under the new chain value.
    package var payload: ArraySlice<UInt8> { didSet { prepared = nil } }
    // The result of `prepare`; nil until it is called.
    private(set) var prepared: PreparedPayload?

    package init(id: Identifier, time: Int64, payload: ArraySlice<UInt8>) {
        self.id = id
        self.time = time
        self.payload = payload
    }

    /// Does the work that needs no place in the log, mainly compression, so that it can run on any thread.
    mutating func prepare(touches: TouchFunction, pool: BufferPool) throws {
        if prepared == nil { prepared = try PreparedPayload(payload, touches: touches, pool: pool) }
    }
}
