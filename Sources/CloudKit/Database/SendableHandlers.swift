/// Has the methods with completion handlers of ``CKDatabase`` and ``CKContainer`` that calls choose.
///
/// They are in an extension of a protocol, and those for handlers that are not declared `@Sendable` in the classes: a
/// type cannot have both, and the compiler prefers the latter for the conformance to a protocol of a client.
public protocol SendableHandlers {}

/// Returns a handler that any thread may call.
func sendable<First, Second>(
    _ handler: @escaping (First, Second) -> Void
) -> @Sendable (First, Second) -> Void {
    // Unsafe: the client declares the handler, which is called once, as it does on Apple's platforms.
    nonisolated(unsafe) let handler = handler
    return { handler($0, $1) }
}

/// The same for handlers that take a result.
func sendable<Value>(
    _ handler: @escaping (Result<Value, any Error>) -> Void
) -> @Sendable (Result<Value, any Error>) -> Void {
    // Unsafe: see the other function.
    nonisolated(unsafe) let handler = handler
    return { handler($0) }
}
