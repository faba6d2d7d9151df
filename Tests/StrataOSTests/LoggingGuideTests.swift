import Synchronization
import TestSupport
import Testing

#if canImport(os)
import os
#else
import StrataOS
#endif

extension StrataOSTests {
    /// The page "Logging": its Swift blocks stand here line for line, are compiled, and run.
    @Suite("Guide: logging")
    struct LoggingGuideTests {
        @Test("Every block of the page stands in this file")
        func page() throws {
            let page = try GuidePage("docs/guide/logging.md")
            #expect(page.blocks.count >= 4)
            let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            #expect(page.blocksMissing(fromSource: source) == [])
        }

        @Test("What the page logs is delivered")
        func run() {
            LogCapture.during(minimumLevel: .default) { capture in
                let (count, user, name, code, percent) = (3, "anna", "Milk", 26, 12.345)
                let logger = Logger(subsystem: "com.example.notes", category: "sync")
                logger.notice("Fetched \(count) notes of \(user)")
                logger.error("Saving \(name, privacy: .public) failed: \(code, format: .hex(includePrefix: true))")
                logger.debug("\(user, privacy: .private(mask: .hash)) has \(percent, format: .fixed(precision: 1)) %")
                #expect(capture.messages == ["Fetched 3 notes of <private>", "Saving Milk failed: 0x1a"])
            }
        }

        @Test("The output is the program's choice")
        func output() {
            LogCapture.during { _ in
                let count = 3
                let messages = Mutex<[String]>([])
                let names = Mutex<[String]>([])
                let logger = Logger(subsystem: "com.example.notes", category: "sync")
                LogOutput.minimumLevel = .debug
                LogOutput.showsPrivateData = true
                LogOutput.handler = { entry in
                    messages.withLock { $0.append("\(entry.level) \(entry.category): \(entry.composedMessage)") }
                }
                logger.debug("\("anna")")
                #expect(messages.withLock { $0 } == ["debug sync: anna"])
                let signposter = OSSignposter(logger: logger)
                LogOutput.signpostHandler = { signpost in
                    names.withLock { $0.append("\(signpost.type.rawValue) \(signpost.name)") }
                }
                let total = signposter.withIntervalSignpost("sum") { count + 1 }
                #expect(total == 4)
                #expect(names.withLock { $0 } == ["1 sum", "2 sum"])
            }
        }
    }
}
