import Testing

@testable import StrataTool

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("🙂", 2), ("한", 2), ("ﾊ", 1), ("\u{200B}", 0),
        ("❤️", 2),
    ])
    func widths(_ text: String, _ width: Int) { #expect(DisplayWidth.width(of: text) == width) }
}
