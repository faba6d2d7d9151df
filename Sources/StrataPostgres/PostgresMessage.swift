import FoundationEssentials
import StrataModel

/// A message between processes of a store, and the notifications that carry it: a notification has less than 8,000
/// bytes of text, so a long message goes in parts.
struct PostgresMessage {
    enum Kind: String {
        /// The question whether a process is there, and what it says.
        case question, sign
        case request, answer

        /// True for messages without content.
        var isShort: Bool { self == .question || self == .sign }
    }

    var kind: Kind
    /// The same in a request and in its answer; drawn at random for each request.
    var number: UInt64
    /// Names the channel that takes the answer.
    var sender: Identifier
    var bytes: [UInt8] = []

    static let maximumBytes = 256 << 10
    private static let partBytes = 5_700

    /// Returns the statement that sends the message to a process. Its parts arrive in order, with nothing between them,
    /// since it is one transaction.
    func statement(to process: Identifier) -> String {
        let count = max(1, (bytes.count + Self.partBytes - 1) / Self.partBytes)
        let calls = (0..<count).map { index in
            let part = bytes[min(index * Self.partBytes, bytes.count)..<min((index + 1) * Self.partBytes, bytes.count)]
            // Digits, letters, and the signs of base64: nothing that would have to be quoted.
            let text = "\(kind.rawValue) \(number) \(sender) \(index) \(count) \(Data(part).base64EncodedString())"
            return "pg_notify('\(Self.channel(of: process))', '\(text)')"
        }
        return "select " + calls.joined(separator: ", ")
    }

    static func channel(of process: Identifier) -> String { "strata.home.\(process)" }

    /// Puts parts together.
    struct Collector {
        private var message: PostgresMessage?
        private var next = 0

        /// Returns the message that a notification completes. Drops a part that does not follow the one before.
        mutating func take(_ text: String) -> PostgresMessage? {
            let words = text.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 6, let kind = Kind(rawValue: String(words[0])), let number = UInt64(words[1]),
                let sender = Identifier(hexadecimal: words[2]), let index = Int(words[3]), let count = Int(words[4]),
                let bytes = Data(base64Encoded: String(words[5]))
            else { return nil }
            if index == 0 {
                (message, next) = (PostgresMessage(kind: kind, number: number, sender: sender), 0)
            }
            guard var collected = message, collected.kind == kind, collected.number == number,
                collected.sender == sender, index == next, index < count,
                collected.bytes.count + bytes.count <= maximumBytes
            else {
                message = nil
                return nil
            }
            message = nil
            collected.bytes += bytes
            next += 1
            if next == count { return collected }
            message = collected
            return nil
        }
    }
}

extension Identifier {
    /// Returns nil unless the text is what `description` gives.
    init?(hexadecimal text: Substring) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
