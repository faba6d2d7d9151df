import CloudKit
import Testing

@Suite("NSPredicate on Linux")
struct PredicateTests {
    private func text(of predicate: NSPredicate) -> String { "\(predicate)" }

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
        for (predicate, expected) in table { #expect(text(of: predicate) == expected) }
    }

    @Test("Values and objects are arguments of formats too, as on Apple's platforms")
    func variadicArguments() {
        let date = Date(timeIntervalSinceReferenceDate: 7.25)
        let word: any CVarArg = "x"
        let flag: any CVarArg = true
        let mixed: [any CVarArg] = [date, 1, 1.5, word, NSNumber(value: 2), ["x", "y"]]
        let table: [(NSPredicate, String)] = [
            (NSPredicate(format: "a >= %@", date as CVarArg), "a >= CAST(7.25, \"NSDate\")"),
            (NSPredicate(format: "a >= %@", (date as NSDate) as CVarArg), "a >= CAST(7.25, \"NSDate\")"),
            (NSPredicate(format: "a = %@", Data([1, 255]) as CVarArg), "a == CAST(\"01ff\", \"NSData\")"),
            (NSPredicate(format: "a IN %@", ["x", "y"] as CVarArg), "a IN {\"x\", \"y\"}"),
            (NSPredicate(format: "a IN %@", Set(["x"]) as CVarArg), "a IN {\"x\"}"),
            (
                NSPredicate(format: "a IN %@", [date] as NSArray as CVarArg), "a IN {CAST(7.25, \"NSDate\")}"
            ),
            (NSPredicate(format: "a BETWEEN %@", [1, 2.5] as [any CVarArg]), "a BETWEEN {1, 2.5}"),
            (NSPredicate(format: "a = %@ AND b = %d", word, 3 as CVarArg), "a == \"x\" AND b == 3"),
            (NSPredicate(format: "a = %@ AND b = %f", flag, 1.5 as CVarArg), "a == 1 AND b == 1.5"),
            (NSPredicate(format: "a = %@", NSNumber(value: 1.5) as CVarArg), "a == 1.5"),
            (NSPredicate(format: "a = %@", Decimal(3) as CVarArg), "a == 3.0"),
            (
                NSPredicate(
                    format: "a > %@ AND b = %d AND c = %f AND d = %@ AND e = %@ AND f IN %@",
                    argumentArray: mixed),
                "a > CAST(7.25, \"NSDate\") AND b == 1 AND c == 1.5 AND d == \"x\" AND e == 2 AND f IN {\"x\", \"y\"}"
            ),
            (
                NSPredicate(format: "a > %@ AND b = %@ AND c = %ld", date as CVarArg, "x", 3),
                "a > CAST(7.25, \"NSDate\") AND b == \"x\" AND c == 3"
            ),
        ]
        for (predicate, expected) in table { #expect(text(of: predicate) == expected) }
        // No field holds one, here or on Apple's platforms.
        for other: any CVarArg in [UUID(), URL(fileURLWithPath: "/x"), ["a": 1], NSUUID(), [UUID()]] {
            #expect(!NSPredicate(format: "a = %@", other).evaluate(with: ["a": other]))
        }
    }

    @Test("The same values as arguments of a string's format")
    func stringArguments() {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        let id = UUID()
        #expect(String(format: "%@, %d, %@", date as CVarArg, 3, "x") == "\(date), 3, x")
        #expect(String(format: "%@ %@", id as CVarArg, ["a", "b"] as CVarArg) == "\(id) [\"a\", \"b\"]")
        #expect(String(format: "%@", NSNumber(value: 3) as CVarArg) == "3")
        #expect(String(format: "%@", URL(fileURLWithPath: "/x") as CVarArg) == "file:///x")
        #expect(String(format: "%@", ["a": 1] as CVarArg) == "[\"a\": 1]")
        #expect(!String(format: "%@", [1] as NSArray as CVarArg).isEmpty)
        for object: any CVarArg in [date as NSDate, NSUUID(), NSData(), NSSet(), NSURL(fileURLWithPath: "/x")] {
            #expect(!String(format: "%@", object).isEmpty)
        }
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
            #expect(text(of: CKQuery(recordType: "T", predicate: predicate).predicate) == expected)
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
