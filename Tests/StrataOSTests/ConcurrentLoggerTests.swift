import Dispatch
import StrataOS
import Testing

extension StrataOSTests {
    @Suite("Concurrent logging")
    struct ConcurrentLoggerTests {
        @Test("Many threads log at once, and every message arrives once")
        func threads() {
            LogCapture.during { capture in
                DispatchQueue.concurrentPerform(iterations: 8) { thread in
                    for index in 0..<100 {
                        Logger().log("\(thread) \(index)")
                        if index % 10 == 0 { LogOutput.showsPrivateData.toggle() }
                    }
                }
                #expect(Set(capture.messages).count == 800)
                #expect(capture.messages.count == 800)
            }
        }
    }
}
