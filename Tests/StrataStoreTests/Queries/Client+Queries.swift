import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// Short ways to ask for what matches.
extension Client {
    func find(
        _ predicate: String = "TRUEPREDICATE", type: String = "Note", order: [SortKey] = [], limit: Int = 0
    ) throws -> QueryPage {
        let query = Query(type, where: try PredicateParser.parse(predicate), order: order)
        return try store.query(.new(query), in: database, limit: limit, as: actor)
    }

    /// Why a query is refused; nil if it is not.
    func refusalOfFinding(
        _ predicate: String = "TRUEPREDICATE", type: String = "Note", order: [SortKey] = [], limit: Int = 0
    ) throws -> Refusal? {
        do { _ = try find(predicate, type: type, order: order, limit: limit) } catch let refusal as Refusal {
            return refusal
        }
        return nil
    }

    /// Saves notes whose ranks count from 0, in requests that are not too large.
    func saveNotes(_ count: Int) throws {
        for first in stride(from: 0, to: count, by: 400) {
            let saves = (first..<min(count, first + 400)).map { number in
                Save("note-\(number)", ["rank": .int64(Int64(number)), "title": .string("t\(number % 10)")])
            }
            #expect(codes(saves).allSatisfy { $0 == nil })
        }
    }
}

extension QueryPage {
    var names: [String] { matches.map(\.id.name) }
}
