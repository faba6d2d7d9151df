import StrataLog
import StrataModel

extension SegmentedLog {
    /// Makes a log that begins with the base of another one, if that has one, and closes it after `body`.
    package static func make<Result>(
        at path: String, withBaseOf source: some HistoryLog, container: String,
        _ body: (SegmentedLog) throws -> Result
    ) throws -> Result {
        let options = LogOptions(durability: .system, spaceStepBytes: 0, containerIdentifier: container)
        if var base = try source.readBase() {
            try make(at: path, after: base.horizon, time: base.time, options: options) { try base.next() }
        }
        let log = try open(at: path, options: options)
        do {
            let result = try body(log)
            try log.close()
            return result
        } catch {
            try? log.close()
            throw error
        }
    }
}
