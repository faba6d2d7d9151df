import Foundation
import StrataOS
import Testing

extension StrataOSTests {
    @Suite("Logger")
    struct LoggerTests {
        private let logger = Logger(subsystem: "test.strata", category: "logger")

        @Test("Each method has the level of Apple's")
        func levels() {
            LogCapture.during { capture in
                logger.log("log")
                logger.log(level: .info, "any")
                logger.trace("trace")
                logger.debug("debug")
                logger.info("info")
                logger.notice("notice")
                logger.warning("warning")
                logger.error("error")
                logger.critical("critical")
                logger.fault("fault")
                let levels = capture.entries.map { "\($0.composedMessage) \($0.level)" }
                #expect(
                    levels == [
                        "log default", "any info", "trace debug", "debug debug", "info info", "notice default",
                        "warning error", "error error", "critical fault", "fault fault",
                    ])
                #expect(capture.entries.allSatisfy { $0.subsystem == "test.strata" && $0.category == "logger" })
            }
        }

        @Test(
            "A level and all above it are delivered",
            arguments: [
                (OSLogType.debug, ["debug", "info", "default", "error", "fault"]),
                (.info, ["info", "default", "error", "fault"]), (.default, ["default", "error", "fault"]),
                (.error, ["error", "fault"]), (.fault, ["fault"]),
            ])
        func minimum(level: OSLogType, delivered: [String]) {
            LogCapture.during(minimumLevel: level) { capture in
                for level in [OSLogType.debug, .info, .default, .error, .fault] { logger.log(level: level, "m") }
                #expect(capture.entries.map(\.level.description) == delivered)
            }
        }

        @Test("Nothing of a disabled level is evaluated")
        func lazy() {
            var evaluations = 0
            func costly() -> String {
                evaluations += 1
                return "x"
            }
            LogCapture.during(minimumLevel: .default) { capture in
                logger.debug("\(costly())")
                logger.info("\(costly(), align: .left(columns: costly().count))")
                Logger(.disabled).fault("\(costly())")
                os_log(.info, "\(costly())")
                #expect(evaluations == 0)
                logger.notice("\(costly())")
                #expect(evaluations == 1)
                #expect(capture.entries.count == 1)
            }
        }

        @Test("An entry is described by one line, as it is written to standard error")
        func line() throws {
            try LogCapture.during { capture in
                logger.error("text")
                Logger().info("plain")
                try #require(capture.entries.count == 2)
                let (first, second) = (capture.entries[0].description, capture.entries[1].description)
                let time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/
                #expect(first.prefixMatch(of: time) != nil)
                #expect(first.replacing(time, with: "-") == "- error [test.strata:logger] text")
                #expect(second.replacing(time, with: "-") == "- info plain")
            }
        }

        @Test("A handler may log: its own messages do not come back to it")
        func handlerThatLogs() {
            LogCapture.during { capture in
                let collect = LogOutput.handler
                LogOutput.handler = { entry in
                    collect?(entry)
                    Logger(subsystem: "test.strata", category: "handler").debug("from the handler")
                }
                logger.log("once")
                #expect(capture.messages == ["once"])
            }
        }

        @Test("os_log takes messages and formats")
        func functions() {
            let log = OSLog(subsystem: "test.strata", category: "functions")
            LogCapture.during { capture in
                os_log("plain")
                os_log("%{public}@ of %d", log: log, type: .error, "one" as NSString, 2)
                os_log(.info, log: log, "%d%%", 5)
                os_log(.debug, log: log, "message \(3)")
                os_log("message \(4)")
                #expect(capture.messages == ["plain", "one of 2", "5%", "message 3", "message 4"])
                #expect(capture.entries.map(\.level) == [.default, .error, .info, .debug, .default])
                #expect(capture.entries.map(\.category) == ["", "functions", "functions", "functions", ""])
            }
        }

        @Test("A log knows which levels are enabled")
        func enabled() {
            LogCapture.during(minimumLevel: .error, showsSignposts: false) { _ in
                #expect(OSLog.default.isEnabled(type: .fault))
                #expect(!OSLog.default.isEnabled(type: .default))
                #expect(!OSLog.disabled.isEnabled(type: .fault))
                #expect(!OSLog(subsystem: "a", category: .pointsOfInterest).signpostsEnabled)
            }
        }

        @Test("No target of a build with this module sees a module os")
        func name() {
            #if canImport(os)
            let seesOS = true
            #else
            let seesOS = false
            #endif
            #expect(!seesOS)
        }
    }
}
