import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore

/// Names of users' own records that the service chooses: docs/rules.md §13.
@Suite("Names of users' records that are chosen")
struct ChosenNameTests {
    private typealias Save = Client.Save

    private let client: Client
    private var store: Store { client.store }

    init() throws { client = Client(of: try Store.inMemory()) }

    private func person(_ emails: String...) -> Person {
        var person = Person()
        person.emails = emails
        return person
    }

    /// The refusal of a name; nothing was written if there is one.
    private func refused(_ recordName: String, of user: String, _ person: Person = Person()) -> Refusal? {
        let offset = store.offset
        do { try store.setPerson(person, of: user, recordName: recordName) } catch {
            #expect(store.offset == offset)
            let refusal = error as? Refusal
            #expect(refusal != nil, "\(error)")
            return refusal
        }
        return nil
    }

    @Test("The records of the user have it in both databases, whatever was asked before")
    func chosen() throws {
        let derived = store.recordName(of: "anna")
        #expect(client.fetch(derived).refusal?.code == .unknownItem)
        try store.setPerson(person("anna@example.com"), of: "anna", recordName: "_anna")
        #expect(try store.snapshot().recordedName(of: "anna") == "_anna")
        #expect(store.recordName(of: "anna") == "_anna" && derived != "_anna")
        #expect(client.codes([Save("a", owner: derived)]) == [.zoneNotFound])
        #expect(client.codes([Save("a", owner: "_anna")]) == [nil])
        for scope in [InternedName.Scope.private, .public] {
            let client = client.with { $0.scope = scope }
            let record = try client.fetch("_anna").get()
            #expect(try record.type == UserRecord.type && record.createdBy == "anna")
            #expect(try record.recordName(of: "anna") == "_anna")
            #expect(client.fetch(derived).refusal?.code == .unknownItem)
            // It can be changed as any other record of its user.
            let own = client.with { $0.policy = .changedKeys }
            #expect(own.codes([Save("_anna", ["nick": .string("Ann")], type: "Users")]) == [nil])
            #expect(try client.fields("_anna") == ["nick": .string("Ann")])
        }
        #expect(try store.user(named: "_anna") == "anna" && store.user(named: derived) == nil)
        #expect(try store.snapshot().user(at: UserAddress(.email, "anna@example.com"))?.name == "anna")
    }

    @Test("A user whom a commit has named keeps the present name, which may be said again")
    func known() throws {
        try client.save("a")
        let present = store.recordName(of: "anna")
        let refusal = try #require(refused("_other", of: "anna"))
        #expect(refusal.code == .invalidArguments && refusal.message.contains(present), "\(refusal.message)")
        #expect(store.recordName(of: "anna") == present)
        try store.setPerson(person("anna@example.com"), of: "anna", recordName: present)
        #expect(try client.events(at: store.offset).map(\.kind) == [.userChanged])
        #expect(store.recordName(of: "anna") == present)
        // One that was chosen likewise.
        try store.setPerson(Person(), of: "ben", recordName: "_ben")
        #expect(refused("_Ben", of: "ben")?.code == .invalidArguments)
        #expect(refused("_ben", of: "ben", person("ben@example.com")) == nil)
        #expect(try store.snapshot().person(of: "ben")?.emails == ["ben@example.com"])
        #expect(store.recordName(of: "ben") == "_ben")
    }

    @Test("A name belongs to one user, whom the refusal names")
    func taken() throws {
        try client.save("a")
        try store.setPerson(Person(), of: "ben", recordName: "_ben")
        for (name, owner) in [(store.recordName(of: "anna"), "anna"), ("_ben", "ben")] {
            let refusal = try #require(refused(name, of: "carl"))
            #expect(refusal.code == .invalidArguments && refusal.message.contains("'\(owner)'"), "\(refusal.message)")
        }
        #expect(try store.snapshot().person(of: "carl") == nil)
        // Names are compared byte by byte.
        #expect(refused("_BEN", of: "carl") == nil)
        #expect(try store.user(named: "_BEN") == "carl" && store.user(named: "_ben") == "ben")
    }

    @Test(
        "What cannot be the name of a record is refused, and so is what any record may be called",
        arguments: [
            "", "anna", "__anna", "__defaultOwner__", "_a\u{7}b", "_a\nb", "_\u{85}",
            "_" + String(repeating: "x", count: 255), "_" + String(repeating: "\u{1F600}", count: 128),
        ])
    func invalid(_ name: String) throws {
        let refusal = try #require(refused(name, of: "anna"))
        #expect(refusal.code == .invalidArguments)
        #expect(try store.offset == 0 && store.snapshot().person(of: "anna") == nil)
    }

    @Test(
        "A name has up to 255 characters",
        arguments: [
            "_a", "_ a~", "_" + String(repeating: "x", count: 254), "_" + String(repeating: "\u{1F600}", count: 127),
        ])
    func longest(_ name: String) throws {
        #expect(refused(name, of: "anna") == nil)
        try client.save("a")
        #expect(store.recordName(of: "anna") == name && client.exists(name))
        #expect(try store.user(named: name) == "anna")
    }

    @Test("A request that is refused for another reason gives no name")
    func refusedPerson() throws {
        let derived = store.recordName(of: "anna")
        #expect(refused("_anna", of: "anna", person("nothing at all"))?.code == .invalidArguments)
        #expect(refused("_anna", of: "")?.code == .invalidArguments)
        #expect(store.offset == 0 && store.recordName(of: "anna") == derived)
        #expect(refused("_anna", of: "ben") == nil)
        try client.save("a")
        #expect(store.recordName(of: "anna") == derived && client.exists(derived))
    }

    @Test("A state of the past does not bring a computed name into use")
    func olderState() throws {
        let before = store.snapshot()
        let asked = store.recordName(of: "ben")
        try client.with { $0.user = "ben" }.save("b")
        // The newest state tells the ordinal, but not yet the name.
        #expect(try client.with { $0.user = "ben" }.fetch("b").get().createdBy == "ben")
        #expect(try before.recordName(of: "ben") == asked)
        #expect(store.recordName(of: "ben") == asked && asked != UserRecord.earlierName(of: "ben"))
    }

    @Test("Whoever has read the public database is known there by a name that is chosen later")
    func publicOwner() throws {
        try client.save("a")
        let reader = client.with { ($0.user, $0.scope) = ("ben", .public) }
        #expect(try reader.fetchedZone("_defaultZone").id.name == "_defaultZone")
        let derived = store.recordName(of: "ben")
        try store.setPerson(Person(), of: "ben", recordName: "_ben")
        #expect(try reader.fetchedZone("_defaultZone", owner: "_ben").id.name == "_defaultZone")
        #expect(throws: Refusal.self) { try reader.fetchedZone("_defaultZone", owner: derived) }
    }

    @Test("A user whose derived name was given to somebody else gets another one")
    func derivedNameOfAnother() throws {
        let first = store.recordName(of: "anna")
        try store.setPerson(Person(), of: "ben", recordName: first)
        let asked = store.recordName(of: "anna")
        #expect(asked != first && asked != UserRecord.earlierName(of: "anna"))
        try client.save("a")
        #expect(store.recordName(of: "anna") == asked && client.exists(asked))
        #expect(try store.user(named: first) == "ben" && store.user(named: asked) == "anna")
        let ben = client.with { $0.user = "ben" }
        try ben.save("b")
        #expect(ben.exists(first) && !ben.exists(asked))
    }

    @Test("Requests keep the name when they are encoded, and when they are rebuilt from their commits")
    func rebuilt() throws {
        // One address alone, which could be an address that is added.
        try store.setPerson(person("anna@example.com"), of: "anna", recordName: "_anna")
        try store.setPerson(person("ben@example.com", "b@example.com"), of: "ben")
        try store.setPerson(person("a@example.com", "b@example.org"), of: "anna")
        try client.save("a")
        try client.with { $0.user = "carl" }.save("a")
        let asked = try RequestRebuilder.requests(of: store.log)
        #expect(asked.count == 5)
        for request in asked.map(\.request) {
            let decoded = try Request(decoding: try request.encoded()[...])
            #expect(decoded == request)
        }
        guard case .administer(.setPerson(_, _, let first)) = asked[0].request.content,
            case .administer(.setPerson(_, _, let third)) = asked[2].request.content
        else {
            Issue.record("\(asked)")
            return
        }
        #expect(first == "_anna" && third == nil)
        // A store with another secret gives other names, but not to whom a request names.
        let other = try Store.inMemory()
        defer { try? other.close() }
        for request in asked { try other.modify(request.request, as: request.actor) }
        #expect(other.recordName(of: "anna") == "_anna")
        #expect(other.recordName(of: "ben") != store.recordName(of: "ben"))
        #expect(other.recordName(of: "carl") != store.recordName(of: "carl"))
    }
}
