import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// Fields whose values no predicate can look at: assets, and what is encrypted. They are there, or they are not.
@Suite struct HiddenValueTests {
    private let client: Client
    private let service: Client

    init() throws {
        (client, service) = (try Client(.embedded), try Client())
        let asset = FieldValue.asset(.init(hash: ContentHash(first: 1, second: 2), size: 3))
        for client in [client, service] {
            let full = Client.Save(
                "full", ["photo": asset, "photos": try list(asset, asset), "secret": encrypted, "rank": .int64(1)])
            #expect(client.codes([full, Client.Save("bare", ["rank": .int64(2)])]) == [nil, nil])
        }
    }

    @Test(
        "A value that cannot be compared is not nil, and equal to nothing",
        arguments: [
            ("photo = nil", "bare"), ("photo != nil", "full"), ("nil = photo", "bare"), ("NOT photo = nil", "full"),
            ("photos = nil", "bare"), ("photos != nil", "full"), ("photos.@count = 2", "full"),
            ("secret = nil", "bare"), ("secret != nil", "full"), ("NOT secret != nil", "bare"),
            ("photo = 'x'", ""), ("photo != 'x'", "full"), ("photo IN {'x', nil}", ""), ("photo = photo", ""),
            ("rank > 0 AND secret = nil", "bare"), ("ANY photos = nil", ""), ("photo < 3 OR rank = 2", "bare"),
        ])
    func presence(format: String, expected: String) throws {
        #expect(try client.find(format).names.joined(separator: " ") == expected)
    }

    @Test(
        "B22 encrypted fields are not queried",
        arguments: [
            "secret = 'x'", "NOT secret = 'x'", "secret CONTAINS 'x'", "'x' IN secret", "rank = 1 AND secret > 3",
            "secret BEGINSWITH 'x'", "ANY secret = 'x'", "secret = rank",
        ])
    func encryptedFields(format: String) throws {
        for client in [client, service] {
            let refusal = try #require(try client.refusalOfFinding(format))
            #expect(refusal.code == .invalidArguments)
            if client.store === self.client.store || !format.contains("= rank") {
                #expect(refusal.message.contains("ncrypted fields cannot be queried"), "\(refusal)")
            }
        }
    }

    @Test("B22 nothing is sorted by an encrypted field") func encryptedOrder() throws {
        for client in [client, service] {
            for isAscending in [true, false] {
                let refusal = try client.refusalOfFinding(order: [.key("secret", isAscending: isAscending)])
                #expect(refusal?.code == .invalidArguments && refusal?.message.contains("“secret”") == true)
            }
        }
    }
}
