import StrataModel
import TestSupport
import Testing

@testable import StrataQuery

/// Parts of texts, against a plain look at every place.
@Suite("Parts of texts")
struct TextSearchTests {
    @Test("A part is found exactly where it is", arguments: [TextFolding.Options(), .caseInsensitive])
    func places(options: TextFolding.Options) {
        var found = 0
        for seed in seeds(4) {
            var random = SeededGenerator(seed: seed)
            // Few letters, neighbours of letters that differ from others by the bit of case, and the first codes.
            let letters = Array("abABz@`[{\u{1}\u{2} ".unicodeScalars)
            for _ in 0..<3_000 {
                func text(_ counts: ClosedRange<Int>) -> String {
                    var text = String.UnicodeScalarView()
                    for _ in 0..<Int.random(in: counts, using: &random) {
                        text.append(letters.randomElement(using: &random)!)
                    }
                    return String(text)
                }
                let (whole, part) = (text(0...40), text(0...4))
                let isThere = isThere(part, in: whole, options)
                let bytes = Array(whole.utf8)
                let isFound = bytes.withUnsafeBytes { TextSearch(part, options).finds($0) }
                if isFound != isThere { Issue.record("\(part.debugDescription) in \(whole.debugDescription)") }
                found += isThere ? 1 : 0
            }
        }
        #expect(found > 1_000)
    }

    private func isThere(_ part: String, in text: String, _ options: TextFolding.Options) -> Bool {
        let ignoresCase = options.contains(.caseInsensitive)
        let (text, part) = ignoresCase ? (text.lowercased(), part.lowercased()) : (text, part)
        let (bytes, wanted) = (Array(text.utf8), Array(part.utf8))
        guard bytes.count >= wanted.count else { return false }
        return (0...bytes.count - wanted.count).contains { bytes[$0...].starts(with: wanted) }
    }

    @Test("Texts beyond ASCII are folded before they are looked at")
    func folded() {
        let options: TextFolding.Options = [.caseInsensitive, .diacriticInsensitive]
        let text = Array("Ein Überfall am CAFÉ".utf8)
        #expect(text.withUnsafeBytes { TextSearch("cafe", options).finds($0) })
        #expect(text.withUnsafeBytes { TextSearch("uberfall", options).finds($0) })
        #expect(!text.withUnsafeBytes { TextSearch("cafe", .caseInsensitive).finds($0) })
        #expect(text.withUnsafeBytes { TextSearch("Über", []).finds($0) })
    }
}
