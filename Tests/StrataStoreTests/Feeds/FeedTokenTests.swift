import StrataLog
import StrataModel
import StrataSystem
import Testing

@testable import StrataQuery
@testable import StrataStore

/// Tokens: B151, B152, B161, B165.
@Suite struct FeedTokenTests {
    private let client: Client

    init() throws {
        client = try Client().with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes", "Other"]) == [nil, nil])
        for name in ["a", "b", "c"] { try client.save(name) }
    }

    private func zonePage(_ token: FeedToken?, limit: Int = 0) throws -> ZoneFeedPage {
        try client.store.zoneChanges(
            of: ZoneID("Notes"), in: client.database, since: token, limit: limit, as: client.actor)
    }

    private func code(_ body: () throws -> Void) -> Refusal.Code? {
        do { try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    /// One of each form.
    private func samples() throws -> [FeedToken] {
        let start = try zonePage(nil).token
        #expect(client.codes([.init("d"), .init("e"), .init("f")]) == [nil, nil, nil])
        let database = try client.store.databaseChanges(in: client.database, as: client.actor).token
        let scanning = try client.store.databaseChanges(in: client.database, limit: 1, as: client.actor).token
        return [
            start, try zonePage(nil, limit: 1).token, try zonePage(start, limit: 1).token, database, scanning,
            FeedToken(
                store: database.store, database: database.database, feed: .database, position: database.position,
                progress: .within(7)),
            FeedToken(
                store: database.store, database: DatabaseID(.shared, owner: "ben"),
                feed: .zone(3, life: Version(offset: 2, eventIndex: 1)), position: database.position,
                progress: .shares(since: 300),
                cursors: [
                    .init(
                        share: 200, membership: Version(offset: 1, eventIndex: 5),
                        through: Version(offset: 2, eventIndex: 9)),
                    .init(share: 201, membership: Version(offset: 2, eventIndex: 0)),
                ]),
        ]
    }

    @Test func `Tokens come back from their bytes, each form of them`() throws {
        let tokens = try samples()
        let forms = Set(
            tokens.map { token in
                switch token.progress {
                case .whole: "whole"
                case .within: "within"
                case .scanningZones: "zones"
                case .scanningRecords: "records"
                case .shares: "shares"
                }
            })
        #expect(forms.count == 5)
        let store = client.store
        for token in tokens {
            #expect(try store.token(from: store.bytes(of: token)) == token)
            #expect(try FeedToken(payload: token.payload()) == token)
            #expect(try FeedToken(unverified: store.bytes(of: token)) == token)
        }
    }

    @Test func `A payload that was cut short or is too long is no token`() throws {
        for token in try samples() {
            let payload = token.payload()
            for count in 0..<payload.count {
                #expect(throws: StrataError.self) { try FeedToken(payload: Array(payload[..<count])) }
            }
            #expect(throws: StrataError.self) { try FeedToken(payload: payload + [0]) }
            let later = [FeedToken.version + 1] + payload.dropFirst()
            #expect(throws: StrataError.self) { try FeedToken(payload: later) }
        }
        let long = [2] + [UInt8](repeating: 1, count: FeedToken.maximumBytes)
        #expect(throws: StrataError.self) { try FeedToken(unverified: long) }
        #expect(code { _ = try client.store.token(from: long) } == .changeTokenExpired)
    }

    @Test func `B161 bytes that this store did not seal open nothing`() throws {
        let store = client.store
        func code(_ bytes: [UInt8]) -> Refusal.Code? { self.code { _ = try store.token(from: bytes) } }
        for token in try samples() {
            let bytes = try store.bytes(of: token)
            #expect(code(bytes) == nil, "canary")
            for count in 0..<bytes.count {
                let expected = count > 17 ? Refusal.Code.changeTokenExpired : .invalidArguments
                #expect(code(Array(bytes[..<count])) == expected, "\(count) bytes")
            }
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(index % 8)
                #expect(code(flipped) == (index == 0 ? .invalidArguments : .changeTokenExpired), "byte \(index)")
            }
            #expect(code(bytes + [0]) == .changeTokenExpired)
            // A store with another secret, and the seal of another purpose.
            let other = StoreSecret(number: 1, key: Array(repeating: 9, count: StoreSecret.byteCount))
            #expect(code(token.sealed(by: other)) == .changeTokenExpired)
            let secret = try store.engine.secret()
            #expect(code(secret.seal(token.payload(), as: .queryCursor)) == .changeTokenExpired)
            // A later release that had another payload.
            let later = [FeedToken.version + 1] + token.payload().dropFirst()
            #expect(code(secret.seal(later, as: .changeToken)) == .changeTokenExpired)
        }
        let cursor = QueryCursor(
            store: store.storeID, database: client.database, query: Query("Note"), order: QueryOrder(keys: []),
            place: SortPlace(values: [], tie: [5, 0, 1]), now: 0)
        #expect(try code(store.bytes(of: cursor)) == .changeTokenExpired)
        for bytes in [[], [2], [1, 2, 3], Array(repeating: 7, count: 60)] as [[UInt8]] {
            #expect(code(bytes) == .invalidArguments, "\(bytes)")
        }
    }

    @Test func `B161 a token of the form that had a checksum for a seal has expired`() throws {
        for token in try samples() {
            var writer = ByteWriter()
            writer.append(bytes: token.payload())
            let bytes = ChecksummedBytes.seal(writer)
            #expect(code { _ = try client.store.token(from: bytes) } == .changeTokenExpired)
            #expect(code { _ = try client.store.token(from: bytes.dropLast() + [0]) } == .invalidArguments)
        }
    }

    @Test func `A token of a thousand shares has at most thirty bytes for each, and opens`() throws {
        var token = try zonePage(nil).token
        token.database = DatabaseID(.shared, owner: "ben")
        let least = token.payload().count
        let last = Version(offset: Version.maximumOffset, eventIndex: 1 << UInt32(Version.eventBits) - 1)
        for share in [1..<1_001 as Range<UInt64>, UInt64.max - 1_000..<UInt64.max] {
            token.cursors = share.map { .init(share: $0, membership: last, through: last) }
            let bytes = try client.store.bytes(of: token)
            #expect(token.payload().count <= least + 30 * 1_000 + 2 && bytes.count < FeedToken.maximumBytes)
            #expect(try client.store.token(from: bytes) == token)
        }
    }

    @Test func `B151 a token of the other kind of feed is an invalid argument`() throws {
        let database = try client.store.databaseChanges(in: client.database, as: client.actor).token
        let zone = try zonePage(nil).token
        #expect(code { _ = try zonePage(database) } == .invalidArguments)
        #expect(
            code { _ = try client.store.databaseChanges(in: client.database, since: zone, as: client.actor) }
                == .invalidArguments)
    }

    @Test func `B161 whatever else does not fit has expired`() throws {
        let token = try zonePage(nil).token
        let client = client
        func changed(_ change: (inout FeedToken) -> Void) -> Refusal.Code? {
            var token = token
            change(&token)
            return code { _ = try zonePage(token) }
        }
        #expect(changed { _ in } == nil)
        #expect(changed { $0.store = .init(high: 1, low: 2) } == .changeTokenExpired)
        #expect(changed { $0.database = .init(.private, owner: "berta") } == .changeTokenExpired)
        #expect(changed { $0.position.chain ^= 1 } == .changeTokenExpired)
        #expect(changed { $0.position.offset += 1 } == .changeTokenExpired)
        #expect(changed { $0.position.offset = Version.maximumOffset } == .changeTokenExpired)
        #expect(changed { $0.position = .init(offset: 0, chain: 1) } == .changeTokenExpired)
        #expect(changed { $0.position = .start } == nil)
        #expect(changed { $0.feed = .zone(99, life: .init(offset: 1, eventIndex: 0)) } == .changeTokenExpired)
        // Of another zone of the same database, and of the same zone for another user.
        #expect(
            code {
                _ = try client.store.zoneChanges(
                    of: ZoneID("Other"), in: client.database, since: token, as: client.actor)
            } == .changeTokenExpired)
        let berta = client.with { $0.user = "berta" }
        #expect(berta.zones(save: ["Notes"]) == [nil])
        #expect(
            code {
                _ = try client.store.zoneChanges(
                    of: ZoneID("Notes"), in: client.database, since: token, as: berta.actor)
            } == .changeTokenExpired)
    }

    @Test func `Progress that no page would give reads what there is, and traps nowhere`() throws {
        let token = try zonePage(nil).token
        for offset in [0, 1, token.position.offset] as [UInt64] {
            let chain = try client.store.log.chain(at: offset)
            for progress in [
                FeedToken.Progress.within(0), .within(.max), .scanningRecords(name: []),
                .scanningRecords(name: Array(repeating: 0xFF, count: 400)), .whole,
            ] {
                var odd = token
                odd.position = Position(offset: offset, chain: chain)
                odd.progress = progress
                _ = code { _ = try zonePage(odd) }
            }
            for progress in [
                FeedToken.Progress.within(0), .within(.max), .scanningZones(offset: 0, zone: .max),
                .scanningZones(offset: Version.maximumOffset, zone: .max),
            ] {
                let odd = FeedToken(
                    store: token.store, database: token.database, feed: .database,
                    position: Position(offset: offset, chain: chain), progress: progress)
                _ = code {
                    _ = try client.store.databaseChanges(in: client.database, since: odd, as: client.actor)
                }
            }
        }
    }

    @Test func `B161 a token from before what the log has let go has expired`() throws {
        let token = try zonePage(nil).token
        for number in 0..<10 { try client.save("later-\(number)") }
        let floor = try client.store.log.trim(to: client.store.offset - 2)
        #expect(floor.offset > token.position.offset)
        #expect(code { _ = try zonePage(token) } == .changeTokenExpired)
        var fresh = Mirror()
        while try fresh.followZone("Notes", client, limit: 2) {}
        #expect(try fresh.zones["Notes"]?.records == Mirror.stored(in: "Notes", client))
    }
}
