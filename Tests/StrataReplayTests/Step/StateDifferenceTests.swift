import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

@Suite("How states of one store, and stores, differ")
struct StateDifferenceTests {
    private static let anna = Actor(user: "anna", device: "phone")
    private static let (notes, work) = (ZoneID("Notes"), ZoneID("Work"))

    private static func store(named name: String = "Notes") throws -> Store {
        let store = try empty(named: name)
        _ = try store.modify(.zones(saving: [notes, work]), as: anna)
        return store
    }

    /// Returns a store that gives anna's own record the name that it has in all of them.
    private static func empty(named name: String) throws -> Store {
        let store = try Store.open(at: "/\(name).strata", platform: Platform(files: SimulatedDisk()))
        try store.setPerson(Person(), of: "anna", recordName: "_anna")
        return store
    }

    private static func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?>, in zone: ZoneID = notes, type: String = "Note",
        to store: Store
    ) throws {
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        request.save(RecordID(name, zone: zone), type: type, fields: fields)
        _ = try store.modify(request.request, as: anna)
    }

    private static func delete(_ name: String, from store: Store) throws {
        var request = RequestBuilder(DatabaseID(.private))
        request.delete(RecordID(name, zone: notes))
        _ = try store.modify(request.request, as: anna)
    }

    private static func line(_ difference: RecordDifference) throws -> String {
        let fields = try difference.fields.map { field in
            "\(field.key) \(text(of: field.before))>\(text(of: field.after))"
        }
        let links = try difference.links.map { "\($0.kind) \($0.before ?? "-")>\($0.after ?? "-")" }
        return ([difference.kind.rawValue, difference.id.zone.name, difference.id.name] + links + fields)
            .joined(separator: " ")
    }

    private static func text(of value: FieldValue?) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .reference(let reference): reference.target.name
        case .list(let list): list.elements.map { text(of: $0) }.joined(separator: ",")
        case nil: "-"
        default: "?"
        }
    }

    private static func lines(
        _ store: Store, _ from: UInt64, _ to: UInt64, _ scope: DifferenceScope = DifferenceScope()
    ) throws -> [String] {
        var lines: [String] = []
        try StateDifference(of: store, from: from, to: to, in: scope).forEachRecord {
            lines.append(try line($0))
            return true
        }
        return lines
    }

    private static func lines(_ from: Store, _ to: Store) throws -> [String] {
        var lines: [String] = []
        try StoreDifference(from: from, to: to).forEachRecord {
            lines.append(try line($0))
            return true
        }
        return lines
    }

    @Test("Forwards and backwards, of a zone, of a type, and of a state and itself")
    func moments() throws {
        let store = try Self.store()
        try Self.save("a", ["title": .string("x")], to: store)
        try Self.save("gone", ["title": .string("x")], to: store)
        let old = store.offset
        try Self.save("a", ["title": .string("y")], to: store)
        try Self.delete("gone", from: store)
        try Self.save("b", ["done": .int64(1)], in: Self.work, type: "Task", to: store)
        let new = store.offset
        let forwards = [
            "changed Notes a title x>y", "removed Notes gone title x>-", "added Work b done ->1",
        ]
        #expect(try Self.lines(store, old, new) == forwards)
        let backwards = [
            "changed Notes a title y>x", "added Notes gone title ->x", "removed Work b done 1>-",
        ]
        #expect(try Self.lines(store, new, old) == backwards)
        #expect(try Self.lines(store, old, new, DifferenceScope(zone: Self.work)) == [forwards[2]])
        #expect(try Self.lines(store, old, new, DifferenceScope(type: "Note")) == Array(forwards.prefix(2)))
        let other = DifferenceScope(database: DatabaseID(.private, owner: "bert"))
        #expect(try Self.lines(store, old, new, other).isEmpty)
        #expect(try Self.lines(store, new, new).isEmpty)
        var count = 0
        try StateDifference(of: store, from: old, to: new).forEachRecord { _ in
            count += 1
            return false
        }
        #expect(count == 1, "it goes on though nobody wants more")
        #expect(throws: StrataError.self) { try Self.lines(store, old, new + 1) }
        try store.close()
    }

    @Test("Two stores are the same if names and values are, whatever the numbers inside")
    func stores() throws {
        let (one, other) = (try Self.store(), try Self.store(named: "Copy"))
        // Names come in another order, so that every ordinal is another one.
        try Self.save("z", ["b": .string("B"), "a": .int64(1)], type: "Later", to: one)
        try Self.save("y", ["c": .double(1)], in: Self.work, to: one)
        try Self.save("y", ["c": .double(1)], in: Self.work, to: other)
        try Self.save("extra", ["q": .int64(4)], to: other)
        try Self.save("z", ["a": .int64(1), "b": .string("B")], type: "Later", to: other)
        #expect(try Self.lines(one, other) == ["added Notes extra q ->4"])
        #expect(try Self.lines(other, one) == ["removed Notes extra q 4>-"])
        try Self.save("z", ["a": .int64(2)], type: "Later", to: other)
        try Self.delete("extra", from: other)
        #expect(try Self.lines(one, other) == ["changed Notes z a 1>2"])
        #expect(try Self.lines(one, one).isEmpty)
        try one.close()
        try other.close()
    }

    @Test("References to a zone of the same name are the same; another target or parent is not")
    func references() throws {
        func store(_ name: String, zonesFirst: [ZoneID], target: String) throws -> Store {
            let store = try Self.empty(named: name)
            _ = try store.modify(.zones(saving: zonesFirst), as: Self.anna)
            try Self.save("list", [:], type: "List", to: store)
            try Self.save("other", [:], type: "List", to: store)
            var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
            let reference = request.reference(to: RecordID(target, zone: Self.notes))
            request.save(
                RecordID("note", zone: Self.notes), type: "Note",
                fields: ["list": reference, "all": .list(try FieldList([reference]))])
            _ = try store.modify(request.request, as: Self.anna)
            return store
        }
        let one = try store("A", zonesFirst: [Self.notes, Self.work], target: "list")
        let same = try store("B", zonesFirst: [Self.work, Self.notes], target: "list")
        let another = try store("C", zonesFirst: [Self.work, Self.notes], target: "other")
        #expect(try Self.lines(one, same).isEmpty)
        #expect(
            try Self.lines(one, another) == [
                "changed Notes note all list>other list list>other"
            ])
        for store in [one, same, another] { try store.close() }
    }

    @Test("A zone that only one of two stores has, with all its records")
    func zones() throws {
        let (one, other) = (try Self.store(), try Self.store(named: "Copy"))
        let third = ZoneID("Third")
        _ = try other.modify(.zones(saving: [third]), as: Self.anna)
        try Self.save("t", ["a": .int64(1)], in: third, to: other)
        #expect(try Self.lines(one, other) == ["added Third t a ->1"])
        #expect(try Self.lines(other, one) == ["removed Third t a 1>-"])
        try one.close()
        try other.close()
    }
}
