import Glibc

/// What a child tells the coordinator, one line for each call of the system:
/// `count NAME N`, `number WRITER N`, `at INPUT`, `lost …`, `wrong …`, `opened`, and `done` at the end.
enum Telling {
    static func say(_ line: String) {
        let bytes = Array((line.replacing("\n", with: "\\n") + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    /// For people, on standard error.
    static func complain(_ text: String) {
        let bytes = Array("torture: \(text)\n".utf8)
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    static func lost(_ text: String) { say("lost \(text)") }
    static func wrong(_ text: String) { say("wrong \(text)") }
    static func count(_ name: String, _ count: Int) { say("count \(name) \(count)") }
}
