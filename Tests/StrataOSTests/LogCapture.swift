import StrataOS
import StrataSystem
import Testing

/// The tests of the module. They share its settings, which belong to the process, and therefore run one by one.
@Suite("StrataOS", .serialized)
struct StrataOSTests {}

/// The entries of a process, collected while a test runs; afterwards the settings are as they were.
final class LogCapture: Sendable {
    private let collected = Lock<[LogEntry]>([])
    private let marked = Lock<[SignpostEntry]>([])

    var entries: [LogEntry] { collected.withLock { $0 } }
    var messages: [String] { entries.map(\.composedMessage) }
    var signposts: [SignpostEntry] { marked.withLock { $0 } }

    /// - Parameter showsSignposts: False if no handler for signposts is set.
    static func during(
        minimumLevel: OSLogType = .debug, showsPrivateData: Bool = false, showsSignposts: Bool = true,
        _ body: (LogCapture) throws -> Void
    ) rethrows {
        let capture = LogCapture()
        let before = (LogOutput.minimumLevel, LogOutput.showsPrivateData)
        defer {
            LogOutput.handler = nil
            LogOutput.signpostHandler = nil
            (LogOutput.minimumLevel, LogOutput.showsPrivateData) = before
        }
        (LogOutput.minimumLevel, LogOutput.showsPrivateData) = (minimumLevel, showsPrivateData)
        LogOutput.handler = { entry in capture.collected.withLock { $0.append(entry) } }
        if showsSignposts { LogOutput.signpostHandler = { entry in capture.marked.withLock { $0.append(entry) } } }
        try body(capture)
    }
}
