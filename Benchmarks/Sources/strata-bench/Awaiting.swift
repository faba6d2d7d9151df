import StrataSystem

/// Blocks this thread until the body has ended.
func awaiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let done = Gate()
    let failure: Lock<(any Error)?> = Lock(nil)
    Task {
        do { try await body() } catch { failure.withLock { $0 = error } }
        done.open()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
}
