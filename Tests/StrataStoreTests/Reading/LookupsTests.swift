import StrataModel
import StrataTree
import StrataViews
import Testing

@testable import StrataStore

@Suite("Results of lookups")
struct LookupsTests {
    private typealias Numbers = Lookups<Int, String>
    private static let anna = Actor(user: "anna", device: "phone")

    @Test("A result is found while its trees stay as they are, and one of no trees always")
    func sources() throws {
        let store = try Store.inMemory()
        _ = try store.modify(NoteRequest.makingZones(), as: Self.anna)
        let before = store.snapshot()
        _ = try store.modify(NoteRequest.saving(["a"]), as: Self.anna)
        let after = store.snapshot()
        func source(_ state: StoreSnapshot, _ first: TreeID, _ second: TreeID? = nil) -> Numbers.Source {
            Numbers.Source(state.trees, first, second)
        }
        var numbers = Numbers()
        numbers.keep("shares", for: 1, source(before, ViewTree.shares))
        numbers.keep("both", for: 2, source(before, ViewTree.shares, ViewTree.records))
        numbers.keep("always", for: 3, nil)
        #expect(numbers[1, source(after, ViewTree.shares)] == "shares")
        #expect(numbers[2, source(before, ViewTree.shares, ViewTree.records)] == "both")
        #expect(numbers[2, source(after, ViewTree.shares, ViewTree.records)] == nil)
        #expect(numbers[3]?.value == "always" && numbers[3]?.source == nil)
        numbers.keep("new", for: 2, source(after, ViewTree.records))
        #expect(numbers[2]?.value == "new")
        try store.close()
    }

    @Test("All are forgotten when there are too many")
    func bounded() {
        var numbers = Numbers()
        for number in 0..<4_096 { numbers.keep("", for: number, nil) }
        numbers.keep("again", for: 0, nil)
        #expect(numbers[0]?.value == "again" && numbers[4_095] != nil)
        numbers.keep("", for: 4_096, nil)
        #expect(numbers[0] == nil && numbers[4_095] == nil && numbers[4_096] != nil)
    }
}
