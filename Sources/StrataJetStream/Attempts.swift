import StrataModel

/// Tries again while servers cannot be reached, until a deadline.
struct Attempts {
    private let start = ContinuousClock.now
    private let milliseconds: Int

    init(milliseconds: Int) { self.milliseconds = milliseconds }

    /// Returns the result of the first call of `body` that does not throw `.unreachable`.
    ///
    /// - Parameter pause: waits before the next call, and returns false if there should be none.
    func run<Result>(_ body: () throws -> Result, pause: () -> Bool) throws -> Result {
        while true {
            do { return try body() } catch let error as StrataError where error.code == .unreachable {
                guard start.duration(to: .now) < .milliseconds(milliseconds), pause() else { throw error }
            }
        }
    }
}
