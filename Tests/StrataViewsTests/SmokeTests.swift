import Testing

@testable import StrataViews

@Test func smoke() { #expect(ViewTree.plain.count == 7) }
