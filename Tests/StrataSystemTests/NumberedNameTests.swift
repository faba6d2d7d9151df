import Testing

@testable import StrataSystem

@Suite("Names with a number")
struct NumberedNameTests {
    @Test("Only digits between prefix and suffix are a number, and another one can follow it")
    func number() {
        let name = NumberedName(prefix: "a-", suffix: ".b")
        #expect(name.number(in: "a-0012.b") == 12)
        #expect(NumberedName.state.number(in: "state-0000000000000007") == 7)
        let others = ["a-.b", "a-+1.b", "a--0.b", "a-1.b.repaired-1", "a-1.b.new", "1.b", "a-1", "a-1 .b", "a-.1.b"]
        for other in others { #expect(name.number(in: other) == nil, "\(other)") }
        #expect(name.number(in: "a-\(UInt64.max).b") == nil)
    }
}
