import StrataModel

/// A commit to be appended to a log.
package struct NewCommit: Sendable {
    /// Distinguishes a repeated append from a new one; the caller chooses it at random.
    package var id: Identifier
    /// The time in microseconds since 1970, at or after the time of the preceding commit.
    package var time: Int64
    /// Changing it discards the touches: the log would list other names than it keeps.
    package var payload: ArraySlice<UInt8> { didSet { touches = nil } }
    /// The touches of the payload; nil if the log is to look for them.
    package private(set) var touches: [Touch]?

    package init(id: Identifier, time: Int64, payload: ArraySlice<UInt8>, touches: [Touch]? = nil) {
        self.id = id
        self.time = time
        self.payload = payload
        self.touches = touches
    }

    /// Looks for the touches, unless the commit has them.
    ///
    /// - Throws: ``StrataError`` if change lists cannot store them.
    mutating func findTouches(by function: TouchFunction) throws {
        let found = try touches ?? payload.withUnsafeBytes { try function($0) }
        if let long = found.first(where: { $0.key.count > Envelope.maximumNameBytes }) {
            throw StrataError(
                .outOfRange, "The name of a record or zone touched by an event is too long.",
                .init(
                    position: UInt64(long.key.lowerBound), expected: "at most \(Envelope.maximumNameBytes) bytes",
                    found: "\(long.key.count)"))
        }
        touches = found
    }
}
