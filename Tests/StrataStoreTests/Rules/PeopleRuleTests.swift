import StrataModel
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Names, addresses and roles of users: docs/rules.md §13.
@Suite struct PeopleRuleTests {
    private let client: Client
    private var store: Store { client.store }

    init() throws { client = try Client() }

    private func refusal(_ body: () throws -> Void) -> Refusal? {
        do { try body() } catch let refusal as Refusal { return refusal } catch { Issue.record(error) }
        return nil
    }

    private func code(_ body: () throws -> Void) -> Refusal.Code? { refusal(body)?.code }

    private func person(_ emails: [String] = [], _ phones: [String] = []) -> Person {
        var person = Person()
        (person.emails, person.phones) = (emails, phones)
        return person
    }

    private func user(_ kind: UserAddress.Kind, _ text: String) throws -> String? {
        try store.snapshot().user(at: UserAddress(kind, text))?.name
    }

    @Test func `A user is found by each address, however it is written, and by the record name`() throws {
        try store.setPerson(person(["Anna@Example.com", "anna@example.com"], ["+1 (415) 555-0100"]), of: "anna")
        #expect(try user(.email, "ANNA@example.COM") == "anna")
        #expect(try user(.phone, "14155550100") == "anna")
        #expect(try user(.recordName, store.recordName(of: "anna")) == "anna")
        #expect(try store.snapshot().person(of: "anna")?.emails == ["Anna@Example.com"])
        #expect(try user(.email, "bert@example.com") == nil && user(.phone, "1") == nil)
        // Who has written something, or was only declared, is found by the record name.
        #expect(try user(.recordName, store.recordName(of: "bert")) == nil)
        try client.with { $0.user = "bert" }.save("a")
        try store.setPerson(Person(), of: "carl")
        #expect(try user(.recordName, store.recordName(of: "bert")) == "bert")
        #expect(try user(.recordName, store.recordName(of: "carl")) == "carl")
        #expect(try store.snapshot().person(of: "carl") == Person() && store.snapshot().person(of: "dora") == nil)
    }

    @Test func `An address that is replaced is free again`() throws {
        try store.setPerson(person(["a@x.org", "b@x.org"]), of: "anna")
        try store.setPerson(person(["b@x.org"], ["1"]), of: "anna")
        #expect(try user(.email, "a@x.org") == nil && user(.email, "b@x.org") == "anna" && user(.phone, "1") == "anna")
        try store.addAddress("A@x.org", to: "bert")
        #expect(try user(.email, "a@x.org") == "bert")
    }

    @Test func `An address belongs to one user, whom the refusal names`() throws {
        try store.setPerson(person(["a@x.org"], ["415"]), of: "anna")
        let offset = store.offset
        for change in [{ try store.addAddress("A@X.org", to: "bert") }, { try store.addAddress("4-1-5", to: "bert") }] {
            let refusal = refusal(change)
            #expect(refusal?.code == .invalidArguments && refusal?.message.contains("'anna'") == true)
        }
        #expect(code { try store.setPerson(person([], ["+415"]), of: "bert") } == .invalidArguments)
        // One's own is no change.
        try store.addAddress("A@x.org", to: "anna")
        #expect(store.offset == offset)
    }

    @Test func `What is no address is refused`() throws {
        let wrong = [
            "", "@x.org", "a@", "a@b@c", "a b@x.org", "a\n@x.org", "phone", String(repeating: "1", count: 255),
        ]
        for address in wrong {
            #expect(code { try store.addAddress(address, to: "anna") } == .invalidArguments, "\(address)")
        }
        #expect(code { try store.setPerson(person(["415"]), of: "anna") } == .invalidArguments)
        #expect(code { try store.setPerson(person([], ["a@x.org"]), of: "anna") } == .invalidArguments)
        #expect(code { try store.addAddress("a@x.org", to: "") } == .invalidArguments)
        #expect(store.offset == 0)
    }

    @Test func `Limits of a person`() throws {
        let longest = String(repeating: "a", count: 248) + "@x.org"
        try store.setPerson(person([longest], [String(repeating: "1", count: 254)]), of: "anna")
        #expect(code { try store.setPerson(person(["a" + longest]), of: "anna") } == .invalidArguments)
        let many = (0...100).map { "a\($0)@x.org" }
        #expect(code { try store.setPerson(person(many), of: "anna") } == .invalidArguments)
        try store.setPerson(person(many.dropLast()), of: "anna")
        #expect(code { try store.addAddress(many[100], to: "anna") } == .invalidArguments)
        var named = Person()
        named.givenName = String(repeating: "n", count: 1_024)
        try store.setPerson(named, of: "anna")
        named.givenName += "n"
        #expect(code { try store.setPerson(named, of: "anna") } == .invalidArguments)
        for number in 0..<100 { try store.setRole("Role\(number)", of: ["anna"]) }
        #expect(code { try store.setRole("Another", of: ["anna"]) } == .invalidArguments)
        try store.setRole("Role0", of: ["anna", "bert"])
    }

    @Test func `A role has the users that were listed last`() throws {
        try client.save("a")
        try store.setRole("Editors", of: ["anna", "bert", "anna"])
        let events = try client.events(at: store.offset)
        #expect(events.map(\.kind) == [.nameInterned, .userRecordNamed, .userChanged, .userChanged])
        #expect(try store.snapshot().person(of: "bert")?.roles == ["Editors"])
        try store.setRole("Guests", of: ["bert"])
        try store.setRole("Editors", of: ["bert", "carl"])
        #expect(try store.snapshot().person(of: "anna")?.roles == [])
        #expect(try store.snapshot().person(of: "bert")?.roles == ["Editors", "Guests"])
        let offset = store.offset
        try store.setRole("Editors", of: ["carl", "bert"])
        try store.setRole("Nobody", of: [])
        #expect(store.offset == offset)
        for role in ["", "_world", "1st", "a b", String(repeating: "r", count: 256)] {
            #expect(code { try store.setRole(role, of: ["anna"]) } == .invalidArguments, "\(role)")
        }
        #expect(code { try store.setRole("Editors", of: ["anna", ""]) } == .invalidArguments)
        let crowd = (0...400).map { "user\($0)" }
        #expect(code { try store.setRole("Crowd", of: crowd) } == .limitExceeded)
        try store.setRole("Crowd", of: crowd.dropLast())
    }

    @Test func `Each part of an account leaves the others alone`() throws {
        try store.setQuota(bytes: 300, of: "anna")
        try store.setPerson(person(["a@x.org"]), of: "anna")
        try store.setRole("Editors", of: ["anna"])
        try store.setDiscoverability(.denied, of: "anna")
        try store.setAccountStatus(.restricted, of: "anna")
        try store.setPerson(person(["b@x.org"]), of: "anna")
        let found = try #require(try store.snapshot().person(of: "anna"))
        #expect(found.emails == ["b@x.org"] && found.roles == ["Editors"] && found.discoverability == .denied)
        #expect(try store.account(of: "anna") == (.restricted, 300))
    }

    @Test func `Requests about people are rebuilt from their commits`() throws {
        try store.setPerson(Person(), of: "anna")
        try store.setPerson(person(["a@x.org"], ["1"]), of: "bert")
        try store.addAddress("c@x.org", to: "bert")
        try store.addAddress("2", to: "bert")
        try store.setRole("Editors", of: ["bert", "anna", "carl"])
        try store.setRole("Editors", of: ["dora", "anna"])
        try store.setDiscoverability(.granted, of: "anna")
        try store.setPerson(person(["d@x.org"]), of: "bert")
        let asked = try RequestRebuilder.requests(of: store.log).map(\.request)
        #expect(asked.count == Int(store.offset))
        #expect(
            asked[2...6].map(\.content) == [
                .administer(.addAddress("c@x.org", user: "bert")), .administer(.addAddress("2", user: "bert")),
                .administer(.setRole("Editors", users: ["bert", "anna", "carl"])),
                .administer(.setRole("Editors", users: ["dora", "anna"])),
                .administer(.setDiscoverability(.granted, user: "anna")),
            ])
        let again = try Client()
        for request in asked { try again.store.modify(request, as: .service) }
        #expect(try again.store.snapshot().digests().content == store.snapshot().digests().content)
        // Encoded and decoded, they are the same.
        for request in asked {
            let decoded = try Request(decoding: try request.encoded()[...])
            #expect(decoded == request)
        }
    }

    @Test func `Compaction keeps people, and what is folded again finds them`() throws {
        let directory = try TestDirectory()
        let path = directory.path + "/people"
        let kept = try Store.open(at: path)
        var anna = person(["a@x.org"], ["1"])
        anna.givenName = "Anna"
        try kept.setPerson(anna, of: "anna")
        try kept.setRole("Editors", of: ["anna"])
        try kept.setDiscoverability(.granted, of: "bert")
        let before = try kept.snapshot().digests()
        _ = try kept.compact(before: kept.offset)
        try kept.close()
        let opened = try Store.open(at: path)
        defer { try? opened.close() }
        #expect(try opened.snapshot().digests() == before)
        let found = try #require(try opened.snapshot().user(at: UserAddress(.email, "a@x.org")))
        #expect(found.name == "anna" && found.person.givenName == "Anna" && found.person.roles == ["Editors"])
        #expect(try opened.snapshot().user(at: UserAddress(.recordName, opened.recordName(of: "bert")))?.name == "bert")
    }
}
