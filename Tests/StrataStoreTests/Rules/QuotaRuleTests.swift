import StrataModel
import Testing

@testable import StrataStore

/// The quota of a user: docs/rules.md §5.9 and §6.
@Suite struct QuotaRuleTests {
    private let client: Client

    init() throws {
        client = try Client()
        #expect(client.zones(save: ["Notes", "Other"]) == [nil, nil])
    }

    private var store: Store { client.store }

    private func quota(_ bytes: UInt64) throws { try store.setQuota(bytes: bytes, of: "anna") }

    /// Of a record with the key `t` alone.
    private func used(_ count: Int) -> UInt64 { UInt64(count + 1) }

    private func save(_ name: String, _ count: Int, in zone: String = "Notes") -> Client.Save {
        .init(name, ["t": .string(text(count))], in: zone)
    }

    @Test func `What is in use is the size of the records that are there, with their files`() throws {
        #expect(try store.usage(of: "anna") == 0 && store.usage(of: "nobody") == 0)
        let asset = FieldValue.asset(.init(hash: ContentHash(first: 1, second: 2), size: 1_000))
        let fields: KeyValuePairs<String, FieldValue?> = [
            "s": .string("aé"), "i": .int64(1), "d": .double(1), "w": .date(1), "b": .data([1, 2]),
            "r": link("target"), "x": encrypted, "f": asset, "fs": try list(asset, asset),
            "ss": try list(.string("ab"), .string("c")), "e": .list(.empty),
        ]
        try client.save("a", fields, in: "Notes")
        let keys = 8 + 2 * 2 + 1 - 0
        let values = 3 + 8 + 8 + 8 + 2 + 6 + 17 + 1_000 + 2_000 + 3
        #expect(try store.usage(of: "anna") == UInt64(keys + values - 0))
        try client.save("b", ["t": .string(text(10))], in: "Other")
        #expect(try store.usage(of: "anna") == UInt64(keys + values) + used(10))
        // The public database does not count, nor what others have.
        try client.with { $0.scope = .public }.save("c", ["t": .string(text(10))])
        try client.with { $0.user = "ben" }.save("c", ["t": .string(text(10))])
        #expect(try store.usage(of: "anna") == UInt64(keys + values) + used(10))
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(try store.usage(of: "anna") == used(10))
        #expect(client.codes(deletes: [.init("b", in: "Other")]) == [nil])
        #expect(try store.usage(of: "anna") == 0)
    }

    @Test func `Up to the quota a record may grow, and not a byte further`() throws {
        try quota(used(10))
        #expect(client.codes([save("a", 11)]) == [.quotaExceeded])
        #expect(client.codes([save("a", 10)]) == [nil])
        let refusal = try client.refusal(save("b", 0, in: "Other"))
        #expect(refusal.code == .quotaExceeded)
        #expect(refusal.message == "Record 'b' needs 1 bytes more, and 11 of 11 bytes are in use.")
        // Others, the public database, and no quota at all.
        #expect(client.with { $0.user = "ben" }.codes([.init("x", ["t": .string(text(100))])]) == [nil])
        #expect(client.with { $0.scope = .public }.codes([.init("x", ["t": .string(text(100))])]) == [nil])
        try quota(0)
        #expect(client.codes([save("b", 100)]) == [nil])
    }

    @Test func `What shrinks or stays is accepted above the quota, and deleting frees at once`() throws {
        let all = client.with { $0.policy = .allKeys }
        #expect(client.codes([save("a", 100), save("b", 100)]) == [nil, nil])
        try quota(50)
        #expect(all.codes([save("a", 101)]) == [.quotaExceeded])
        #expect(all.codes([save("a", 100)]) == [nil] && all.codes([save("a", 99)]) == [nil])
        #expect(all.codes([.init("a", [:], in: "Notes")]) == [nil])
        // What the same request frees is not free yet.
        let loose = all.with { $0.isAtomic = false }
        #expect(loose.codes([save("c", 1)], deletes: [.init("b", in: "Notes")]) == [.quotaExceeded, nil])
        let inUse = try store.usage(of: "anna")
        #expect(inUse == used(99))
        #expect(all.codes([.init("a", ["t": nil], in: "Notes")]) == [nil])
        #expect(all.codes([save("c", 49)]) == [nil] && all.codes([save("d", 0)]) == [.quotaExceeded])
        #expect(all.codes(deletes: [.init("c", in: "Notes")]) == [nil])
        #expect(all.codes([save("d", 49)]) == [nil])
    }

    @Test func `Saves of one request count in their order; in an atomic zone all fail`() throws {
        let loose = client.with { $0.isAtomic = false }
        try quota(2 * used(10))
        #expect(
            loose.codes([save("a", 10), save("b", 11), save("c", 10), save("d", 0)]) == [
                nil, .quotaExceeded, nil, .quotaExceeded,
            ])
        #expect(client.codes(deletes: [.init("a", in: "Notes"), .init("c", in: "Notes")]) == [nil, nil])
        #expect(client.codes([save("a", 10), save("b", 11)]) == [.batchRequestFailed, .quotaExceeded])
        #expect(try store.usage(of: "anna") == 0)
    }

    @Test func `What is kept of the usage follows everything that changes it`() throws {
        try quota(1_000)
        let all = client.with { $0.policy = .allKeys }
        for round in 0..<20 {
            #expect(all.codes([save("a\(round)", 40), save("b", round)]) == [nil, nil])
            let free = 1_000 - Int(try store.usage(of: "anna"))
            // Exactly as much as is left, and not a byte more: the rules know what the views do.
            #expect(all.codes([save("probe", free)]) == [.quotaExceeded])
            #expect(all.codes([save("probe", free - 1)]) == [nil])
            #expect(all.codes(deletes: [.init("probe", in: "Notes")]) == [nil])
        }
        try store.purgeZone(ZoneID("Notes"), of: "anna")
        #expect(all.codes([save("x", 999, in: "Other")]) == [nil])
    }

    @Test func `A size that nobody can have overflows nothing`() throws {
        let asset = FieldValue.asset(.init(hash: ContentHash(first: 1, second: 2), size: .max))
        try client.save("a", ["f": asset, "fs": try list(asset, asset)], in: "Notes")
        #expect(try store.usage(of: "anna") == 1 << 40)
        try quota(1 << 41)
        try client.save("b", ["f": asset], in: "Notes")
        #expect(client.codes([.init("c", ["f": asset], in: "Notes")]) == [.quotaExceeded])
        #expect(client.codes(deletes: [.init("a", in: "Notes")]) == [nil])
        #expect(try store.usage(of: "anna") == 1 << 40)
    }
}
