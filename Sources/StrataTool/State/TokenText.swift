import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// A change token as a command line has it: the bytes in base64 or hexadecimal.
struct TokenText: Sendable {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - text: The text. If it is valid as both, the one that decodes to a token wins.
    ///   - name: The name of the argument, for error messages.
    /// - Throws: ``UsageError`` if the text is not a token.
    init(_ text: String, of name: String) throws(UsageError) {
        let text = Self.bare(text)
        let readings = [Data(base64Encoded: text).map { [UInt8]($0) }, Self.bytes(hexadecimal: text)].compactMap { $0 }
        for bytes in readings {
            do {
                if !FeedToken.isOfEarlierRelease(bytes) { _ = try FeedToken(unverified: bytes) }
                self.bytes = bytes
                return
            } catch let error as StrataError where error.code == .newerFormat {
                throw UsageError(
                    "\(name) is a change token of a later release; use a newer strata, this is \(Tool.version)")
            } catch {}
        }
        let reason = readings.isEmpty ? "is neither base64 nor hexadecimal" : "was cut short or changed"
        throw UsageError("\(name) is not a change token: the text \(reason)")
    }

    /// The contents, which only a store can verify.
    ///
    /// - Throws: ``UsageError`` for a token of the form that had no seal.
    func contents(of name: String) throws(UsageError) -> FeedToken {
        do { return try FeedToken(unverified: bytes) } catch {
            throw UsageError(
                "\(name) is a change token of an earlier release; stores answer changeTokenExpired to it, and the "
                    + "client fetches from nil")
        }
    }

    /// Returns the text of a token in the description of an object, as programs print and log it:
    /// `<CKServerChangeToken: 0x7f…; data=…>`.
    private static func bare(_ text: String) -> String {
        guard text.hasPrefix("<"), text.hasSuffix(">") else { return text }
        let words = text.dropFirst().dropLast().split { " ;,".contains($0) }
        guard let word = words.last else { return text }
        return String(word.hasPrefix("data=") ? word.dropFirst("data=".count) : word)
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(ofDigit: digits[index]), let low = value(ofDigit: digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
