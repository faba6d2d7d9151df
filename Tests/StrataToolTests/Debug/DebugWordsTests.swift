import Testing

@testable import StrataTool

@Suite struct DebugWordsTests {
    @Test(arguments: [
        ("print 'a b' c", ["print", "a b", "c"]), ("a\\ b \"c\\\"d\"", ["a b", "c\"d"]), ("  x  ", ["x"]),
        ("p \"日 本\"", ["p", "日 本"]), ("''", [""]),
    ])
    func words(_ line: String, _ wanted: [String]) {
        #expect(DebugWords(line).words.map(\.text) == wanted)
        for word in wanted { #expect(DebugWords(DebugWords.quoted(word)).words.map(\.text) == [word]) }
    }

    @Test func aPredicateKeepsItsQuotes() {
        let words = DebugWords("until Note title == 'a  b' AND rank>3").words
        #expect(DebugWords.predicate(words[2...]) == "title == 'a  b' AND rank>3")
        #expect(DebugWords.predicate(DebugWords("x 'rank > 3'").words[1...]) == "rank > 3")
        #expect(DebugWords("a 'b").isOpen)
    }
}
