import Foundation
import StrataSystem
import Synchronization

/// The output of all loggers and signposters of the process: standard error, or a handler that the program sets.
///
/// Apple's platforms have the system's log instead. Everything here can be used on any thread.
public enum LogOutput {
    private struct State {
        var showsPrivateData = false
        var handler: (@Sendable (LogEntry) -> Void)?
        var signpostHandler: (@Sendable (SignpostEntry) -> Void)?
    }

    private static let state = Lock(State())
    // Read by every call of a logger, enabled or not, and therefore outside the lock.
    private static let minimumRawLevel = Atomic(OSLogType.default.rawValue)
    private static let hasSignpostHandler = Atomic(false)
    /// True in a handler, and in what it calls.
    @TaskLocal private static var isInHandler = false

    /// The lowest level that is delivered; `default` at first. From low to high: `debug`, `info`, `default`, `error`,
    /// `fault`.
    public static var minimumLevel: OSLogType {
        get { OSLogType(rawValue: minimumRawLevel.load(ordering: .relaxed)) }
        set { minimumRawLevel.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// True if values are shown although they are private; false at first. Those marked `.sensitive` never are.
    public static var showsPrivateData: Bool {
        get { state.withLock { $0.showsPrivateData } }
        set { state.withLock { $0.showsPrivateData = newValue } }
    }

    /// The receiver of messages, called by the thread that logs; nil for standard error.
    ///
    /// Messages that it logs itself go to standard error.
    public static var handler: (@Sendable (LogEntry) -> Void)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// The receiver of signposts; nil, as at first, disables them. Signposts that it emits itself are dropped.
    public static var signpostHandler: (@Sendable (SignpostEntry) -> Void)? {
        get { state.withLock { $0.signpostHandler } }
        set {
            state.withLock { $0.signpostHandler = newValue }
            hasSignpostHandler.store(newValue != nil, ordering: .relaxed)
        }
    }

    static func isEnabled(_ level: OSLogType) -> Bool { level.severity >= minimumLevel.severity }

    static var signpostsEnabled: Bool { hasSignpostHandler.load(ordering: .relaxed) }

    static func deliver(_ entry: LogEntry) {
        guard !isInHandler, let handler else {
            FileHandle.standardError.write(Data("\(entry)\n".utf8))
            return
        }
        $isInHandler.withValue(true) { handler(entry) }
    }

    static func deliver(_ entry: SignpostEntry) {
        guard !isInHandler, let handler = signpostHandler else { return }
        $isInHandler.withValue(true) { handler(entry) }
    }
}
