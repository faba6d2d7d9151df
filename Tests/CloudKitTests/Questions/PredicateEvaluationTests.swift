import CloudKit
import Testing

@Suite("Predicates over records in memory")
struct PredicateEvaluationTests {
    private func sample() -> CKRecord {
        let record = CKRecord(recordType: "Book", recordID: CKRecord.ID(recordName: "book-1"))
        record["title"] = "The Red Door"
        record["city"] = "Zürich"
        record["price"] = 12
        record["rating"] = 4.5
        record["tags"] = ["new", "Used"]
        record["printed"] = Date(timeIntervalSinceReferenceDate: 1_000)
        record["cover"] = Data([1, 2, 3])
        record["place"] = CLLocation(latitude: 47.3769, longitude: 8.5417)
        record["author"] = CKRecord.Reference(recordID: CKRecord.ID(recordName: "anna"), action: .deleteSelf)
        return record
    }

    static let holding = [
        "price = 12", "price = 12.0", "12 < 13", "price < 12.5 AND price > 11.5", "price BETWEEN {12, 20}",
        "price IN {1, 12}", "price != 13", "title = 'The Red Door'", "title ==[c] 'the red door'",
        "title BEGINSWITH 'The'", "title ENDSWITH[c] 'DOOR'", "title CONTAINS 'Red'", "title CONTAINS[c] 'red d'",
        "city CONTAINS[cd] 'zuri'", "title LIKE '*Red*'", "title LIKE[c] 'the ??? d*r'", "title MATCHES 'The .*'",
        "title MATCHES[c] 'the .*'", "tags CONTAINS 'new'", "'new' IN tags", "ANY tags = 'new'",
        "ANY tags ==[c] 'used'",
        "ALL tags BEGINSWITH 'x' OR TRUEPREDICATE", "NONE tags = 'old'", "tags.@count = 2", "tags = {'new', 'Used'}",
        "printed < now()", "printed = CAST(1000, 'NSDate')", "cover = CAST('010203', 'NSData')",
        "self CONTAINS 'blue RED'", "SELF CONTAINS 'zurich'", "NOT self CONTAINS 'the'", "price + 1 = 13",
        "price * 2 - 4 = 20", "price / 5 = 2", "2 ** 3 = 8", "missing = nil", "title != nil", "NOT missing = 1",
        "author = CAST({'anna', '_defaultZone', '__defaultOwner__'}, 'CKReference')",
        "recordID = CAST({'book-1', '_defaultZone', '__defaultOwner__'}, 'CKReference')", "creationDate = nil",
        "distanceToLocation:fromLocation:(place, CAST({47.4, 8.5}, 'CLLocation')) < 5000",
        "9223372036854775807 != 9223372036854775808.0", "9223372036854775806 < 9223372036854775807",
    ]

    static let failing = [
        "price = 13", "price = 'x'", "missing != 1", "missing < 1", "title CONTAINS 'red'", "city CONTAINS[c] 'zuri'",
        "title LIKE 'red'", "title MATCHES '('", "title MATCHES 'Red'", "title MATCHES 'The)|(?:x'", "ANY missing = 1",
        "ALL tags = 'new'",
        "NONE tags = 'new'", "title = nil", "self CONTAINS 'the'",
        "distanceToLocation:fromLocation:(place, missing) < 5",
        "distanceToLocation:fromLocation:(place, CAST({0, 0}, 'CLLocation')) < 5000", "price / 0 = 1", "FALSEPREDICATE",
        "title < 3", "a.b = 1", "$x = 1",
    ]

    @Test("B129, B131, B132, B133, B134, B135, B136: what holds", arguments: holding)
    func holds(format: String) { #expect(NSPredicate(format: format).evaluate(with: sample())) }

    @Test("B129: what does not hold, missing values above all", arguments: failing)
    func fails(format: String) { #expect(!NSPredicate(format: format).evaluate(with: sample())) }

    @Test("Dictionaries have keys too; other objects hold for nothing")
    func otherObjects() {
        let predicate = NSPredicate(format: "n = $n")
        #expect(predicate.evaluate(with: ["n": 3], substitutionVariables: ["n": 3]))
        #expect(!predicate.evaluate(with: ["n": 3], substitutionVariables: ["n": 4]))
        #expect(!predicate.evaluate(with: 3))
        #expect(!predicate.evaluate(with: nil))
    }

    @Test("A compound of Foundation's evaluates its parts")
    func compounds() {
        let parts = [NSPredicate(format: "price = 12"), NSPredicate(format: "rating > 4")]
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: parts).evaluate(with: sample()))
    }
}
