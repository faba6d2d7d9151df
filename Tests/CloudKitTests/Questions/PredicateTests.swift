import CloudKit
import Testing

@Suite("NSPredicate on Linux")
struct PredicateTests {
    private func text(_ predicate: NSPredicate) -> String { "\(predicate)" }

    @Test("B127, B130: arguments take the places of placeholders, whatever they are")
    func arguments() {
        let id = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "z"))
        let link = "CAST({\"r\", \"z\", \"__defaultOwner__\"}, \"CKReference\")"
        let date = Date(timeIntervalSinceReferenceDate: 7.25)
        let missing: String? = nil
        let table: [(NSPredicate, String)] = [
            (NSPredicate(format: "%K = %@", "in", "x"), "#in == \"x\""),
            (NSPredicate(format: "a = %@", NSString(string: "x")), "a == \"x\""),
            (NSPredicate(format: "a = %d AND b = %f", 3, 1.5), "a == 3 AND b == 1.5"),
            (NSPredicate(format: "a = %ld AND b < %u", 3, UInt8(4)), "a == 3 AND b < 4"),
            (NSPredicate(format: "a = %@", NSNumber(value: 1.5)), "a == 1.5"),
            (NSPredicate(format: "a = %@", NSNumber(value: 2)), "a == 2"),
            (NSPredicate(format: "a = %@", true), "a == 1"),
            (NSPredicate(format: "a = %@", UInt64.max), "a == 1.8446744073709552e+19"),
            (NSPredicate(format: "a > %@", date), "a > CAST(7.25, \"NSDate\")"),
            (NSPredicate(format: "a > %@", NSDate(timeIntervalSinceReferenceDate: 7.25)), "a > CAST(7.25, \"NSDate\")"),
            (NSPredicate(format: "a = %@", Data([1, 255])), "a == CAST(\"01ff\", \"NSData\")"),
            (NSPredicate(format: "a = %@", id), "a == \(link)"),
            (NSPredicate(format: "a = %@", CKRecord(recordType: "T", recordID: id)), "a == \(link)"),
            (NSPredicate(format: "a = %@", CKRecord.Reference(recordID: id, action: .none)), "a == \(link)"),
            (NSPredicate(format: "a IN %@", ["x", "y"]), "a IN {\"x\", \"y\"}"),
            (NSPredicate(format: "a BETWEEN %@", [1, 2] as NSArray), "a BETWEEN {1, 2}"),
            (NSPredicate(format: "a = %@", missing as Any), "a == nil"),
            (NSPredicate(format: "a = %@ AND b = %@", argumentArray: [1, "two"]), "a == 1 AND b == \"two\""),
            (NSPredicate(format: "a = 1", argumentArray: nil), "a == 1"),
            (NSPredicate(format: "%K < %@", "owner.age", 3), "owner.age < 3"),
        ]
        for (predicate, expected) in table { #expect(text(predicate) == expected) }
    }

    @Test("B270: a malformed format or argument keeps its mistake, which a query's operation tells")
    func mistakes() {
        for predicate in [
            NSPredicate(format: "a ==="), NSPredicate(format: "a = %@"), NSPredicate(format: "a = %d", "x"),
            NSPredicate(format: "a = %@", URL(fileURLWithPath: "/x")), NSPredicate(format: "%K = 1", 3),
            NSPredicate(format: "a IN %@", [URL(fileURLWithPath: "/x")]), NSPredicate(format: "%K = 1", ""),
            NSPredicate(format: "a = %d", 1.5),
        ] {
            #expect(!predicate.evaluate(with: CKRecord(recordType: "T")))
            #expect(predicate == predicate.copy() as? NSPredicate)
        }
        #expect(NSPredicate(format: "a = %d", "x") != NSPredicate(format: "a = %d AND", "x"))
    }

    @Test("Equal if they say the same, in the same bytes")
    func equality() {
        #expect(NSPredicate(format: "a = 1") == NSPredicate(format: "a == %d", 1))
        #expect(NSPredicate(format: "a = 1").hash == NSPredicate(format: "a == %d", 1).hash)
        #expect(NSPredicate(format: "a = 1") != NSPredicate(format: "a = 1.0"))
        #expect(NSPredicate(format: "a = %@", "e\u{301}") != NSPredicate(format: "a = %@", "é"))
        #expect(NSPredicate(format: "a = 1") != NSPredicate(value: true))
    }

    @Test("B122: compounds and constants are recognised part by part")
    func compounds() {
        let first = NSPredicate(format: "a = 1")
        let second = NSPredicate(format: "b = 2")
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [first, second])
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [both, NSPredicate(value: false)])
        let table: [(NSPredicate, String)] = [
            (both, "a == 1 AND b == 2"), (either, "(a == 1 AND b == 2) OR FALSEPREDICATE"),
            (NSCompoundPredicate(notPredicateWithSubpredicate: first), "NOT a == 1"),
            (NSCompoundPredicate(andPredicateWithSubpredicates: []), "TRUEPREDICATE"),
            (NSCompoundPredicate(orPredicateWithSubpredicates: [second]), "b == 2"),
            (NSPredicate(value: true), "TRUEPREDICATE"),
        ]
        for (predicate, expected) in table {
            #expect(text(CKQuery(recordType: "T", predicate: predicate).predicate) == expected)
        }
    }

    @Test("Nesting compounds without end is a mistake, not a stack that overflows")
    func deepCompounds() {
        var predicate: NSPredicate = NSPredicate(format: "a = 1")
        for _ in 0..<1_000 { predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate) }
        let query = CKQuery(recordType: "T", predicate: predicate)
        #expect(!query.predicate.evaluate(with: CKRecord(recordType: "T")))
    }

    @Test("Survives secure coding, with every kind of constant")
    func coding() throws {
        let here = CLLocation(latitude: 1.5, longitude: -2.5)
        let id = CKRecord.ID(recordName: "r\"1")
        for predicate in [
            NSPredicate(format: "a = %@ AND b < %@ AND c = %@", "ä\n\"", Date(), Data([7])),
            NSPredicate(format: "distanceToLocation:fromLocation:(p, %@) < 5 AND r = %@", here, id),
            NSPredicate(format: "a IN %@", [Double.infinity, -0.0, 0.1]), NSPredicate(format: "broken ="),
        ] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            let classes: [AnyClass] = [NSPredicate.self]
            let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? NSPredicate
            #expect(decoded == predicate)
        }
    }
}
