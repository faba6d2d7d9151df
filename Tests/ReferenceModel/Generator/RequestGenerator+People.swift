import StrataModel

extension RequestGenerator {
    private static let emails = ["ada@x.org", "Ada@X.org", "ben@x.org", "ben+1@x.org", "c@y.org", "C@y.org"]
    private static let phones = ["+1 415", "1415", "0049-30", "004930"]

    package static let addresses =
        emails.map { UserAddress(.email, $0) } + phones.map { UserAddress(.phone, $0) }

    /// What the service says of people: mostly right, sometimes an address of somebody else or none at all.
    mutating func knowingPeople() -> Request {
        let user = dice.pick(Self.users)
        let body: AdministerRequest
        switch dice.number(below: 100) {
        case ..<40:
            var person = Person()
            person.givenName = dice.pick(["", "Ada", "Ben", String(repeating: "n", count: 1_024)])
            if dice.chance(3) { person.familyName = String(repeating: "n", count: 1_025) }
            // One at least, so that the request makes a user known whom nobody has named.
            person.emails = (0...dice.number(below: 2)).map { _ in dice.pick(Self.emails) }
            if dice.chance(50) { person.phones = [dice.pick(Self.phones)] }
            if dice.chance(3) { person.emails = (0..<(100 + dice.number(below: 2))).map { "\(user)\($0)@x.org" } }
            body = .setPerson(person, user: dice.chance(97) ? user : "")
        case ..<65:
            let wrong = ["", "@x.org", "a@", "a@b@c", "no digits", String(repeating: "1", count: 255)]
            body = .addAddress(dice.pick(dice.chance(80) ? Self.emails + Self.phones : wrong), user: user)
        case ..<85:
            let role = dice.chance(90) ? dice.pick(Self.roles) : dice.pick(["", "_world", "1st"])
            body = .setRole(role, users: Self.users.filter { _ in dice.chance(50) } + (dice.chance(3) ? [""] : []))
        default: body = .setDiscoverability(dice.pick(Person.Discoverability.allCases), user: user)
        }
        return Request(database: DatabaseID(.private), .administer(body))
    }
}
