import StrataModel

/// What each tree must hold, byte for byte (docs/format-keys.md §3 and §4).
extension PlainStore {
    typealias Tree = [[UInt8]: [UInt8]]

    func trees() throws -> [UInt16: Tree] {
        var trees: [UInt16: Tree] = [1: [:], 4: references(), 10: [:], 11: [:]]
        for (key, state) in records { trees[1]?[Self.recordKey(key)] = try row(of: key, state) }
        for (namespace, names) in names {
            for (ordinal, name) in names {
                let interned = InternedName(ordinal: ordinal, name: name)
                trees[10]?[[namespace] + PlainKey.number(ordinal)] = Array(interned.event.body)
                trees[11]?[Self.ordinalKey(name)] = Self.varint(ordinal)
            }
        }
        trees[2] = try zoneRows()
        trees[3] = [:]
        for (ordinal, zone) in zones {
            trees[3]?[
                PlainKey.number(zone.database) + PlainKey.number(zone.lastChanged) + PlainKey.number(ordinal)] = []
        }
        trees[5] = try rows(subscriptions, { $0 }, digests)
        trees[6] = try rows(schema, PlainKey.number, digests)
        trees[7] = try rows(users, PlainKey.number, digests)
        trees[8] = try rows(devices, PlainKey.number) { _ in Pair() }
        trees[9] = try rows(clientTokens, { $0.flatMap { PlainKey.number($0) } }, digests)
        trees[12] = try rows(databases, PlainKey.number) { _ in Pair() }
        trees[13] = try rows(expiredTokens, PlainKey.number) { _ in Pair() }
        trees[14] = [:]
        for row in subscriptions.values { trees[14]?[Self.contentKey(row.value)] = [] }
        trees[15] = try rows(deliveries, PlainKey.number) { _ in Pair() }
        trees[18] = [:]
        for (key, row) in fired {
            trees[18]?[key] = plainBytes(row.version.packed) + Array(try row.value.event().body)
        }
        trees[19] = [:]
        for (hash, row) in assets {
            trees[19]?[plainBytes(hash.first) + plainBytes(hash.second)] =
                plainBytes(row.version.packed) + Self.varint(row.value)
        }
        try addSharing(to: &trees)
        trees[26] = addresses()
        trees[27] = try rows(secrets, PlainKey.number, digests)
        trees[29] = try rows(recordNames, PlainKey.number, digests)
        trees[30] = try rows(statedRules, PlainKey.number, digests)
        return trees
    }

    private func addSharing(to trees: inout [UInt16: Tree]) throws {
        trees[21] = try rows(shares, PlainKey.number, digests)
        trees[22] = [:]
        for share in shares.values.map(\.value) where !share.isEnded {
            let tokens = [(share.urlToken, "")] + share.oneTimeTokens.map { ($0.token, $0.participant) }
            for (token, participant) in tokens {
                let name = Array(participant.utf8)
                trees[22]?[Array(token.utf8)] = Self.varint(share.share) + Self.varint(UInt64(name.count)) + name
            }
        }
        trees[28] = [:]
        for share in shares.values.map(\.value).sorted(by: { $0.share < $1.share }) {
            let key = PlainKey.number(share.record.zone) + PlainKey.lastName(share.root ?? "")
            trees[28]?[key] = Self.varint(share.share)
        }
        trees[23] = try rows(members, { $0.flatMap { PlainKey.number($0) } }, digests)
        trees[24] = try rows(sharedRecords, { $0 }) { _ in Pair() }
        trees[25] = [:]
        for row in sharedRecords.values {
            trees[25]?[PlainKey.number(row.value.share) + PlainKey.number(row.version.packed)] =
                Array(try row.value.event().body)
        }
    }

    private func addresses() -> Tree {
        var tree: Tree = [:]
        for ordinal in (names[1] ?? [:]).keys {
            let hash = nameHash(1, ordinal)
            let computed = "_" + hexadecimal(UInt64(hash >> 64)) + hexadecimal(UInt64(truncatingIfNeeded: hash))
            let name = recordNames[ordinal]?.value.recordName ?? computed
            tree[[3] + Array(name.utf8)] = Self.varint(ordinal)
        }
        for (ordinal, row) in users {
            for email in row.value.person.emails { tree[[1] + Array(email.lowercased().utf8)] = Self.varint(ordinal) }
            for phone in row.value.person.phones {
                tree[[2] + Array(phone.utf8.filter { $0 >= 48 && $0 < 58 })] = Self.varint(ordinal)
            }
        }
        return tree
    }

    private static func recordKey(_ key: RecordKey) -> [UInt8] {
        PlainKey.number(key.zone) + PlainKey.lastRecordName(key.name)
    }

    private static func contentKey(_ event: SubscriptionSavedEvent) -> [UInt8] {
        let subscription = event.subscription
        let numbers = [
            UInt64(subscription.kind.rawValue), subscription.options.rawValue, subscription.zone,
            subscription.recordType,
        ]
        let seed = PlainHash.hash(numbers.flatMap { plainBytes($0) })
        let hash = PlainHash.hash(Array(subscription.predicate.utf8), seed: seed)
        return PlainKey.number(event.database) + PlainKey.number(event.user) + plainBytes(hash)
            + PlainKey.lastName(subscription.id)
    }

    private static func varint(_ number: UInt64) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127 | 128)] + varint(number >> 7)
    }

    private static func ordinalKey(_ name: InternedName.Name) -> [UInt8] {
        switch name {
        case .user(let text), .recordType(let text), .field(let text):
            [name.namespace.rawValue] + PlainKey.lastName(text)
        case .device(let user, let text): [2] + PlainKey.number(user) + PlainKey.lastName(text)
        case .database(let scope, let owner): [3, scope.rawValue] + PlainKey.number(owner)
        case .zone(let database, let owner, let text):
            [4] + PlainKey.number(database) + PlainKey.number(owner) + PlainKey.lastName(text)
        }
    }

    private func row(of key: RecordKey, _ state: RecordState) throws -> [UInt8] {
        var state = state
        let digests = try digests(of: key, state)
        state.header.contentDigest = digests.content
        var writer = ByteWriter()
        try state.encode(into: &writer)
        return writer.bytes
    }

    private func rows<Key: Hashable, Value: EventBody>(
        _ rows: [Key: Row<Value>], _ key: (Key) -> [UInt8], _ digests: (Row<Value>) throws -> Pair
    ) throws -> Tree {
        var tree: Tree = [:]
        for (place, row) in rows {
            let pair = try digests(row)
            tree[key(place)] =
                plainBytes(row.version.packed) + plainBytes(pair.state) + plainBytes(pair.content)
                + Array(try row.value.event().body)
        }
        return tree
    }

    private static func targets(of state: RecordState) -> [(key: RecordKey, kind: UInt8)] {
        var targets = state.parent.map { [($0, 1 as UInt8)] } ?? []
        for field in state.fields {
            let values: [FieldValue] = if case .list(let list) = field.value { list.elements } else { [field.value] }
            for case .reference(let reference) in values {
                targets.append((reference.target, reference.action == .deleteSelf ? 2 : 3))
            }
        }
        return targets
    }

    private func references() -> Tree {
        var tree: Tree = [:]
        for (source, state) in records {
            for (target, kind) in Self.targets(of: state) {
                let key =
                    PlainKey.number(target.zone) + PlainKey.recordName(target.name) + [kind] + Self.recordKey(source)
                tree[key] = []
            }
        }
        return tree
    }

    private func usedBytes(of state: RecordState) -> UInt64 {
        let sum: UInt64 = state.fields.reduce(0) { sum, field in
            guard case .field(let name)? = names[6]?[UInt64(field.field)] else { return sum }
            return sum + UInt64(name.utf8.count) + Self.usedBytes(of: field.value)
        }
        return min(sum, 1 << 40)
    }

    private static func usedBytes(of value: FieldValue) -> UInt64 {
        switch value {
        case .string(let text): UInt64(text.utf8.count)
        case .int64, .double, .date: 8
        case .data(let bytes): UInt64(bytes.count)
        case .location: 16
        case .reference(let reference): UInt64(reference.target.name.utf8.count)
        case .asset(let asset): min(asset.size, 1 << 40)
        case .list(let list): list.elements.reduce(0) { $0 + usedBytes(of: $1) }
        case .sealed(let sealed): UInt64(sealed.ciphertext.count)
        }
    }

    private func zoneRows() throws -> Tree {
        var tree: Tree = [:]
        for (ordinal, zone) in zones {
            let own = records.filter { $0.key.zone == ordinal }
            let outward = own.values.count { state in Self.targets(of: state).contains { $0.key.zone != ordinal } }
            var row = [zone.status] + plainBytes(zone.version.packed) + plainBytes(zone.incarnation.packed)
            row += plainBytes(zone.lastChanged) + Self.varint(zone.capabilities) + [zone.scope]
            row += Self.varint(UInt64(own.count)) + Self.varint(UInt64(outward))
            row += Self.varint(own.values.reduce(0) { $0 + usedBytes(of: $1) })
            for pair in [try recordDigests(ofZone: ordinal), digests(ofZone: ordinal, zone)] {
                row += plainBytes(pair.state) + plainBytes(pair.content)
            }
            tree[PlainKey.number(zone.database) + PlainKey.number(ordinal)] = row
        }
        return tree
    }
}
