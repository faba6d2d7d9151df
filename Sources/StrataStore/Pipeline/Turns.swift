import StrataSystem

/// The turns to decide and to append, and the threads that wait for them. A thread that has a turn is noted so that
/// debug builds check who uses it.
struct Turns {
    private var decider: UInt?
    private var appender: UInt?
    /// The number of threads that wait for a turn and must be woken when one is free.
    var waiters = 0
    /// The number of these threads that go before waiting requests.
    var claims = 0

    var isDeciding: Bool { decider != nil }
    var isAppending: Bool { appender != nil }
    var areFree: Bool { !isDeciding && !isAppending }
    /// True if the calling thread has the turn to decide.
    var isMineToDecide: Bool { decider == WorkerThread.currentID }
    /// True if the calling thread has the turn to append.
    var isMineToAppend: Bool { appender == WorkerThread.currentID }

    mutating func takeDeciding() {
        assert(!isDeciding, "one thread decides at a time")
        decider = WorkerThread.currentID
    }

    mutating func takeAppending() {
        assert(!isAppending, "one thread appends at a time")
        appender = WorkerThread.currentID
    }

    mutating func takeBoth() {
        takeDeciding()
        takeAppending()
    }

    mutating func releaseDeciding() {
        assert(isDeciding, "a turn that is given up was taken")
        decider = nil
    }

    mutating func releaseAppending() {
        assert(isAppending, "a turn that is given up was taken")
        appender = nil
    }
}
