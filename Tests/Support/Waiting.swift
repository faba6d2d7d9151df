import Glibc

private let patience = Duration.seconds(60)

/// Whether something that another thread or process does comes to be: at once if it is there, and with so much patience
/// that a busy machine is not taken for a fault.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    while try !condition() {
        if start.duration(to: .now) > patience { return try condition() }
        usleep(1_000)
    }
    return true
}

/// The same in a task, whose thread others have meanwhile.
package func awaited(_ condition: () async throws -> Bool) async throws -> Bool {
    let start = ContinuousClock.now
    while try await !condition() {
        if start.duration(to: .now) > patience { return try await condition() }
        try await Task.sleep(for: .milliseconds(1))
    }
    return true
}
