import StrataModel
import StrataQuery
import StrataStore
import StrataSystem
import StrataViews
import TestSupport

/// A user who makes tokens, cursors and URLs that the store did not give out. The user knows everything but the secret:
/// what all users hold, the encodings, the names, and how checksums and hashes without a key are computed.
struct Forger {
    private let world: ForgeryWorld
    private let held: ForgeryWorld.Holdings
    private let issued: Set<[UInt8]>
    private let urls: Set<String>
    private let keys: [[UInt8]]

    init(_ world: ForgeryWorld) {
        self.world = world
        held = world.held.values.reduce(ForgeryWorld.Holdings(), +)
        issued = Set(held.tokens + held.cursors)
        urls = Set(held.urls)
        keys = Self.guessedKeys(world)
    }

    /// Keys of bytes that users know.
    private static func guessedKeys(_ world: ForgeryWorld) -> [[UInt8]] {
        var seeds: [[UInt8]] = [[0], [0xFF], Array(0...31)]
        for store in [world.store.storeID, world.other.storeID] {
            var writer = ByteWriter()
            writer.append(store)
            seeds += [writer.bytes, writer.bytes.reversed(), writer.bytes + Array(repeating: 0, count: 16)]
        }
        seeds += world.recordNames.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] }
        seeds += world.held.values.flatMap { $0.tokens + $0.cursors }.map { Array($0.suffix(16)) }
        return seeds.map { seed in (0..<StoreSecret.byteCount).map { seed[$0 % seed.count] } }
    }

    // MARK: What was accepted

    /// Tries one token; returns true if a forged one opened, or a genuine one served another user.
    ///
    /// - Parameter isVerified: false for the canary, which does not look at seals.
    func token(_ generator: inout SeededGenerator, isVerified: Bool) -> Bool {
        if generator.next(below: 16) == 0 { return servesAnother(&generator) }
        let bytes = forged(pick(held.tokens, &generator), as: .changeToken, &generator) { payload, generator in
            guard var token = try? FeedToken(payload: payload) else { return payload }
            for _ in 0...generator.next(below: 3) { change(&token, &generator) }
            return token.payload()
        }
        guard !issued.contains(bytes) else { return false }
        let token = isVerified ? try? world.store.token(from: bytes) : try? FeedToken(unverified: bytes)
        return token != nil
    }

    func cursor(_ generator: inout SeededGenerator, isVerified: Bool) -> Bool {
        let bytes = forged(pick(held.cursors, &generator), as: .queryCursor, &generator) { payload, generator in
            guard var cursor = try? QueryCursor(payload: payload) else { return payload }
            change(&cursor, &generator)
            return cursor.payload()
        }
        guard !issued.contains(bytes) else { return false }
        let cursor = isVerified ? try? world.store.cursor(from: bytes) : try? QueryCursor(unverified: bytes)
        return cursor != nil
    }

    /// Tries a URL that nobody gave to carl.
    ///
    /// - Parameter isVerified: false for the canary, to whom someone gave one of eight.
    func url(_ generator: inout SeededGenerator, isVerified: Bool) -> Bool {
        let leaks = !isVerified && generator.next(below: 8) == 0
        let token = leaks ? pick(held.urls, &generator) : forgedURL(&generator)
        guard leaks || token != world.held["ben"]?.urls[0] else { return false }
        return (try? world.store.snapshot().shareMetadata(ofToken: token, as: ForgeryWorld.actor("carl"))) != nil
    }

    /// A genuine token or cursor, from another user or another store.
    private func servesAnother(_ generator: inout SeededGenerator) -> Bool {
        let (owner, asker) = [("anna", "ben"), ("anna", "carl"), ("ben", "carl"), ("carl", "ben")][
            generator.next(below: 4)]
        let isForeign = generator.next(below: 4) == 0
        let bytes = pick(isForeign ? world.foreign.tokens : world.held[owner]?.tokens ?? [], &generator)
        guard let token = try? world.store.token(from: bytes) else { return false }
        if isForeign { return true }
        let (actor, store) = (ForgeryWorld.actor(asker), world.store)
        let shared = ZoneID(ForgeryWorld.zone.name, owner: world.recordNames["anna"] ?? "")
        let zones = [(ForgeryWorld.zone, DatabaseID(.private)), (shared, DatabaseID(.shared))]
        return zones.contains { (try? store.zoneChanges(of: $0, in: $1, since: token, as: actor)) != nil }
            || zones.contains { (try? store.databaseChanges(in: $1, since: token, as: actor)) != nil }
    }

    private func pick<Element>(_ list: [Element], _ generator: inout SeededGenerator) -> Element {
        list[generator.next(below: list.count)]
    }

    // MARK: Payloads

    private func change(_ token: inout FeedToken, _ generator: inout SeededGenerator) {
        let position = (try? FeedToken(unverified: pick(held.tokens, &generator)))?.position ?? token.position
        switch generator.next(below: 9) {
        case 0: token.store = world.other.storeID
        case 1:
            let scope = generator.next(below: 2) == 0 ? token.database.scope : .shared
            token.database = DatabaseID(scope, owner: pick(ForgeryWorld.users, &generator))
        case 2: token.position = position
        case 3: token.position.offset = UInt64(generator.next(below: 400))
        case 4: token.position.chain = UInt32(truncatingIfNeeded: generator.next())
        case 5:
            let life = Version(offset: UInt64(generator.next(below: 200)), eventIndex: UInt32(generator.next(below: 9)))
            token.feed = .zone(UInt64(generator.next(below: 12)), life: life)
        case 6: token.progress = .scanningRecords(name: generator.nextBytes(generator.next(below: 20)))
        case 7: token.progress = .within(UInt64(generator.next(below: 500)))
        default:
            // The share to which only a permission is missing, or the version by which someone joined it.
            guard var cursor = token.cursors.first else { return token.progress = .whole }
            cursor.share = UInt64(generator.next(below: ForgeryWorld.rootCount) + 1)
            cursor.membership = Version(
                offset: UInt64(generator.next(below: 100)), eventIndex: UInt32(generator.next(below: 9)))
            token.cursors.append(cursor)
        }
    }

    private func change(_ cursor: inout QueryCursor, _ generator: inout SeededGenerator) {
        switch generator.next(below: 5) {
        case 0: cursor.store = world.other.storeID
        case 1: cursor.database = DatabaseID(.private, owner: pick(ForgeryWorld.users, &generator))
        case 2: cursor.database = DatabaseID(.shared, owner: pick(ForgeryWorld.users, &generator))
        case 3: cursor.query.zone = ZoneID("Notes", owner: pick(Array(world.recordNames.values), &generator))
        default: cursor.now = Double(generator.next(below: 1 << 30))
        }
    }

    private func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...generator.next(below: 4) where !bytes.isEmpty {
            let place = generator.next(below: bytes.count)
            switch generator.next(below: 4) {
            case 0: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
            case 1: bytes.remove(at: place)
            default: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            }
        }
        return bytes
    }

    // MARK: Seals

    /// Returns bytes that look sealed: genuine ones with something changed, or a changed payload with a seal that
    /// can be had without the secret.
    private func forged(
        _ genuine: [UInt8], as purpose: StoreSecret.Purpose, _ generator: inout SeededGenerator,
        _ change: ([UInt8], inout SeededGenerator) -> [UInt8]
    ) -> [UInt8] {
        if generator.next(below: 8) == 0 { return changed(genuine, &generator) }
        var payload = (try? StoreSecret.unverifiedPayload(of: genuine, "a forgery")) ?? []
        switch generator.next(below: 4) {
        case 0: payload = changed(payload, &generator)
        case 1: break
        default: payload = change(payload, &generator)
        }
        let others = [held.tokens, held.cursors, world.foreign.tokens, world.foreign.cursors][
            generator.next(below: 4)]
        let head = Array(genuine.prefix(2))
        switch generator.next(below: 9) {
        case 0: return head + payload + genuine.suffix(16)
        case 1: return head + payload + pick(others, &generator).suffix(16)
        case 2: return head + payload + generator.nextBytes(16)
        case 3: return [2, UInt8(generator.next(below: 128))] + payload + genuine.suffix(16)
        case 4: return head + payload + genuine.suffix(generator.next(below: 16))
        case 5: return pick(others, &generator)
        case 6:
            // The form that had a checksum for a seal.
            var writer = ByteWriter()
            writer.append(bytes: payload)
            return ChecksummedBytes.seal(writer)
        case 7:
            let seed = UInt128(world.store.storeID.high) << 64 | UInt128(world.store.storeID.low)
            let hash = (head + payload).withUnsafeBytes { DigestHash.hash(seed, $0) }
            return head + payload + withUnsafeBytes(of: hash) { Array($0) }
        default: return StoreSecret(number: 1, key: pick(keys, &generator)).seal(payload, as: purpose)
        }
    }

    // MARK: URLs

    private func forgedURL(_ generator: inout SeededGenerator) -> String {
        let root = "anna-\(generator.next(below: ForgeryWorld.rootCount))"
        let known = world.held["ben"]?.urls[0] ?? ""
        let hash = UInt128(known, radix: 36) ?? 0
        switch generator.next(below: 6) {
        case 0: return Self.text(UInt128(generator.next()) << 64 | UInt128(generator.next()))
        case 1: return Self.text(hash &+ UInt128(generator.next(below: 1 << 20)))
        case 2: return String(decoding: changed(Array(known.utf8), &generator), as: UTF8.self)
        case 3: return pick(world.foreign.urls, &generator)
        case 4:
            // The formula of stores that had no secret.
            let life = Version(
                offset: UInt64(generator.next(below: 60)), eventIndex: UInt32(generator.next(below: 4)))
            let seed = UInt128(world.store.storeID.high) << 64 | UInt128(world.store.storeID.low)
            let zone = DigestHash.hash(DigestHash.hash(seed, text: "anna"), text: ForgeryWorld.zone.name)
            let plain = DigestHash.hash(zone ^ UInt128(life.packed), text: root)
            return Self.text(generator.next(below: 2) == 0 ? plain : DigestHash.hash(plain, text: "anna"))
        default:
            // The formula of a secret, with a key that users know, and an ID of the commit that they guess.
            var input = ByteWriter()
            let commit = generator.next(below: 2) == 0 ? generator.nextBytes(16) : pick(keys, &generator)
            input.append(bytes: commit.prefix(16))
            input.appendVarint(2)
            input.appendString(ForgeryWorld.zone.name)
            input.appendString(root)
            let hash = StoreSecret(number: 1, key: pick(keys, &generator)).hash(.shareURL, input.bytes)
            return Self.text(hash.reduce(0) { $0 << 8 | UInt128($1) })
        }
    }

    private static func text(_ hash: UInt128) -> String {
        let digits = String(hash, radix: 36)
        return String(repeating: "0", count: max(0, 25 - digits.utf8.count)) + digits
    }
}
