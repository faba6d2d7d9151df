import Foundation
import StrataOS
import Testing

extension StrataOSTests {
    @Suite("Signposts")
    struct SignpostTests {
        private let signposter = OSSignposter(subsystem: "test.strata", category: .pointsOfInterest)

        @Test("An interval has a beginning and an end of one identity")
        func interval() {
            LogCapture.during { capture in
                let id = signposter.makeSignpostID()
                let state = signposter.beginInterval("sync", id: id, "of \("Anna")")
                signposter.emitEvent("page", "number \(1)")
                signposter.endInterval("sync", state, "\(2) records")
                #expect(capture.signposts.map(\.type) == [.begin, .event, .end])
                #expect(capture.signposts.map(\.id) == [id, .exclusive, id])
                #expect(capture.signposts.map(\.composedMessage) == ["of <private>", "number 1", "2 records"])
                #expect(capture.signposts.map(\.name) == ["sync", "page", "sync"])
                #expect(capture.signposts.allSatisfy { $0.category == "PointsOfInterest" })
                #expect(capture.messages.isEmpty)
            }
        }

        @Test("A task in an interval returns its value, and ends it when it throws")
        func task() {
            struct Failure: Error {}
            LogCapture.during { capture in
                #expect(signposter.withIntervalSignpost("sum") { 1 + 1 } == 2)
                #expect(throws: Failure.self) { try signposter.withIntervalSignpost("sum") { throw Failure() } }
                #expect(capture.signposts.map(\.type) == [.begin, .end, .begin, .end])
            }
        }

        @Test("Without a handler, or with the disabled signposter, nothing is evaluated")
        func disabled() {
            func costly() -> String {
                Issue.record("evaluated")
                return ""
            }
            LogCapture.during(showsSignposts: false) { _ in
                #expect(!signposter.isEnabled)
                signposter.emitEvent("none", "\(costly())")
                os_signpost(.event, log: .default, name: "none", "\(costly())")
            }
            LogCapture.during { capture in
                OSSignposter.disabled.emitEvent("none", "\(costly())")
                signposter.emitEvent("none", id: .null)
                signposter.emitEvent("none", id: .invalid)
                #expect(signposter.isEnabled)
                #expect(capture.signposts.isEmpty)
            }
        }

        @Test("Identities are distinct, except those of one object")
        func identities() {
            let (object, other) = (NSObject(), NSObject())
            let ids = [
                signposter.makeSignpostID(), signposter.makeSignpostID(), signposter.makeSignpostID(from: object),
                signposter.makeSignpostID(from: other), .exclusive, .invalid, .null,
            ]
            #expect(Set(ids).count == 7)
            #expect(signposter.makeSignpostID(from: object) == OSSignpostID(log: .default, object: object))
        }

        @Test("A state can be encoded")
        func state() throws {
            let data = try JSONEncoder().encode(OSSignpostIntervalState.beginState(id: OSSignpostID(7)))
            let state = try JSONDecoder().decode(OSSignpostIntervalState.self, from: data)
            LogCapture.during { capture in
                signposter.endInterval("sync", state)
                #expect(capture.signposts.map(\.id) == [OSSignpostID(7)])
            }
        }

        @Test("os_signpost takes formats and messages")
        func functions() {
            LogCapture.during { capture in
                os_signpost(.begin, log: .default, name: "load")
                os_signpost(.event, log: .default, name: "load", "%d of %{public}@", 1, "two" as NSString)
                os_signpost(.end, log: .default, name: "load", "\(3)")
                #expect(capture.signposts.map(\.composedMessage) == ["", "1 of two", "3"])
            }
        }
    }
}
