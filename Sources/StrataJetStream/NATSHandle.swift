/// The pointer to an object of the client library, which is destroyed with this handle.
final class NATSHandle {
    // Not nil before it is destroyed, which happens once.
    private let pointer: OpaquePointer
    private let destroy: NATSLibrary.Destroy

    /// Takes over an object that the library made.
    init(owning pointer: OpaquePointer, _ destroy: @escaping NATSLibrary.Destroy) {
        (self.pointer, self.destroy) = (pointer, destroy)
    }

    deinit { destroy(pointer) }

    /// Calls `body` with the pointer, and keeps this handle until it has returned: it could otherwise be released after
    /// the pointer was read and before the library uses it.
    func withPointer<Result, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }
}
