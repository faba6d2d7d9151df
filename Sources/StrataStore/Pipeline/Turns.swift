/// The turns to decide and to append, and the threads that wait for them.
struct Turns {
    var isDeciding = false
    var isAppending = false
    /// The number of threads that wait for a turn and must be woken when one is free.
    var waiters = 0
    /// The number of these threads that go before waiting requests.
    var claims = 0

    var areFree: Bool { !isDeciding && !isAppending }

    mutating func takeBoth() { (isDeciding, isAppending) = (true, true) }
}
