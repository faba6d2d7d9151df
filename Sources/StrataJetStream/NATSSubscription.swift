/// A subscription whose messages wait in the library until they are taken, up to a number of bytes.
final class NATSSubscription {
    private let library: NATSLibrary
    private let connection: NATSConnection
    private let pointer: OpaquePointer

    init(_ library: NATSLibrary, _ connection: NATSConnection, owning pointer: OpaquePointer) {
        self.library = library
        self.connection = connection
        self.pointer = pointer
    }

    deinit { connection.end(pointer) }

    func limit(bytes: Int) throws(NATSFailure) {
        // The library uses the subscription, which ends with this object.
        defer { withExtendedLifetime(self) {} }
        try library.check(library.setLimits(pointer, -1, Int32(clamping: bytes)))
    }

    /// Returns the next message; nil if none comes in time.
    ///
    /// - Throws: ``NATSFailure`` if the connection was closed, or messages did not fit the limit.
    func next(milliseconds: Int) throws(NATSFailure) -> NATSMessage? {
        var message: OpaquePointer?
        // The library uses the subscription as long as it waits.
        defer { withExtendedLifetime(self) {} }
        let status = library.nextMessage(&message, pointer, Int64(milliseconds))
        if status == NATSFailure.Status.timeout.rawValue { return nil }
        try library.check(status)
        return message.map { NATSMessage(library, owning: $0) }
    }
}
