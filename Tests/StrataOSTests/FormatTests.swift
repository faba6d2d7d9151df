import Foundation
import StrataOS
import Testing

extension StrataOSTests {
    @Suite("Formats of os_log")
    struct FormatTests {
        private func text(_ format: StaticString, _ arguments: [any CVarArg]) -> String? {
            var text: String?
            LogCapture.during { capture in
                switch arguments.count {
                case 0: os_log(format)
                case 1: os_log(format, arguments[0])
                default: os_log(format, arguments[0], arguments[1])
                }
                text = capture.messages.first
            }
            return text
        }

        @Test("Objects are private, numbers are not, and the format decides")
        func privacy() {
            let name = NSString("Anna")
            #expect(text("%@ %d", [name, 1]) == "<private> 1")
            #expect(text("%{public}@ %{private}d", [name, 1]) == "Anna <private>")
            #expect(text("%{sensitive}@ %{public, uuid_t}s", [name, name]) == "<sensitive> Anna")
            #expect(text("%{private, mask.hash}@", [name])?.hasPrefix("<mask.hash: '") == true)
        }

        @Test(
            "Conversions as in C",
            arguments: [
                ("%05d", 42, "00042"), ("%ld", -1, "-1"), ("%u", Int32(-1), "4294967295"), ("%llx", 255, "ff"),
                ("%#X", UInt8(255), "0XFF"), ("%.2f", 3.14159, "3.14"), ("%-6.1lf|", 2.5, "2.5   |"),
                ("%e", 1.0, "1.000000e+00"),
                ("%c", 65, "A"), ("%zu", UInt.max, "18446744073709551615"), ("%hhd", Int8(-3), "-3"),
            ] as [(StaticString, any CVarArg & Sendable, String)])
        func conversions(format: StaticString, argument: any CVarArg & Sendable, expected: String) {
            #expect(text(format, [argument]) == expected)
        }

        @Test("Stars take arguments")
        func stars() {
            #expect(text("%*d", [5, 42]) == "   42")
            #expect(text("%.*f", [1, 2.25]) == "2.2")
        }

        @Test("Formats that do not fit their arguments are written as far as they can be")
        func mistakes() {
            #expect(text("%d and %d", [1]) == "1 and <missing>")
            #expect(text("%d", ["text" as NSString]) == "text")
            #expect(text("%f %s", [1, 2]) == "1 <private>")
            #expect(text("100%", []) == "100%")
            #expect(text("%{public", [1]) == "%{public")
            #expect(text("%y %%", [1]) == "%y %")
            #expect(text("%99999999d", [1]) == "1")
        }
    }
}
