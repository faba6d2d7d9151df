import Foundation
import StrataOS
import Testing

extension StrataOSTests {
    @Suite("Messages")
    struct MessageTests {
        private struct Point: CustomStringConvertible {
            var description: String { "(1, 2)" }
        }

        private enum Failure: Error { case lost }

        private func text(showsPrivateData: Bool = false, _ message: OSLogMessage) -> String? {
            var text: String?
            LogCapture.during(showsPrivateData: showsPrivateData) { capture in
                Logger().log(message)
                text = capture.messages.first
            }
            return text
        }

        @Test("By default numbers, truth values and types are shown, and everything else is private")
        func defaults() {
            let (name, object): (String, NSObject) = ("Anna", NSString("Ben"))
            #expect(
                text("\(name) \(object) \(Point()) \(Failure.lost as any Error)")
                    == Array(
                        repeating: "<private>", count: 4
                    ).joined(separator: " "))
            #expect(
                text("\(1) \(UInt8(2)) \(true) \(Int.self) \(1.5) \(Float(0.5))") == "1 2 true Int 1.500000 0.500000")
            #expect(text("\(nil as NSString?, privacy: .public)") == "nil")
        }

        @Test(
            "Each privacy, without and with private data",
            arguments: [
                (OSLogPrivacy.auto, "<private>", "x"), (.public, "x", "x"), (.private, "<private>", "x"),
                (.sensitive, "<sensitive>", "<sensitive>"),
            ])
        func privacy(privacy: OSLogPrivacy, hidden: String, shown: String) {
            #expect(text("\("x", privacy: privacy)") == hidden)
            #expect(text(showsPrivateData: true, "\("x", privacy: privacy)") == shown)
            #expect(text("\(Point(), privacy: privacy)")?.hasPrefix("<") == hidden.hasPrefix("<"))
        }

        @Test("A number can be private")
        func privateNumber() {
            #expect(text("\(7, privacy: .private) \(true, privacy: .sensitive)") == "<private> <sensitive>")
            #expect(text("\(7, format: .hex, privacy: .auto(mask: .hash))") == "7")
        }

        @Test("A hash is the same for the same value, and does not show it")
        func hash() throws {
            let first = try #require(text("\("anna", privacy: .private(mask: .hash))"))
            #expect(first.wholeMatch(of: /<mask\.hash: '[A-Za-z0-9+\/]{11}='>/) != nil)
            #expect(text("\("anna", privacy: .sensitive(mask: .hash))") == first)
            #expect(text("\("ben", privacy: .auto(mask: .hash))") != first)
            #expect(text(showsPrivateData: true, "\("anna", privacy: .private(mask: .hash))") == "anna")
        }

        @Test("Formats of integers")
        func integers() {
            #expect(
                text("\(-255, format: .hex) \(255, format: .hex(includePrefix: true, uppercase: true))") == "-ff 0xFF")
            #expect(text("\(8, format: .octal(includePrefix: true)) \(8, format: .octal)") == "0o10 10")
            #expect(text("\(5, format: .decimal(explicitPositiveSign: true, minDigits: 3))") == "+005")
            #expect(text("\(Int64.min) \(UInt64.max, format: .hex)") == "-9223372036854775808 ffffffffffffffff")
        }

        @Test("Formats of other numbers and of truth values")
        func others() {
            #expect(
                text("\(3.14159, format: .fixed(precision: 2)) \(2.5, format: .exponential)") == "3.14 2.500000e+00")
            #expect(text("\(0.5, format: .hybrid(explicitPositiveSign: true)) \(1.0, format: .hex)") == "+0.5 0x1p+0")
            #expect(text("\(true, format: .answer) \(false, format: .truth)") == "yes false")
        }

        @Test("Alignment counts characters, also of placeholders, and adds no more than a thousand")
        func alignment() {
            #expect(
                text("[\(5, align: .right(columns: 3))] [\("é", align: .left(columns: 3), privacy: .public)]")
                    == "[  5] [é  ]")
            #expect(text("[\("x", align: .right(columns: 10))]") == "[ <private>]")
            #expect(text("\(1, align: .left(columns: .max))")?.count == 1_001)
            #expect(text("\(1, align: .left(columns: .min))") == "1")
        }
    }
}
