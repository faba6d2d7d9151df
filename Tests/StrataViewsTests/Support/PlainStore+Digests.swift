import StrataModel

/// Digests from scratch, as docs/format-keys.md §5 says.
extension PlainStore {
    struct Pair: Equatable {
        var state: UInt128 = 0
        var content: UInt128 = 0
    }

    func nameHash(_ namespace: UInt8, _ ordinal: UInt64) -> UInt128 {
        guard let name = names[namespace]?[ordinal] else { return 0 }
        switch name {
        case .user(let text): return PlainHash.hash(Array(text.utf8), seed: 1)
        case .recordType(let text): return PlainHash.hash(Array(text.utf8), seed: 5)
        case .field(let text): return PlainHash.hash(Array(text.utf8), seed: 6)
        case .device(let user, let text): return PlainHash.hash(Array(text.utf8), seed: nameHash(1, user))
        case .database(let scope, let owner):
            return PlainHash.hash(plainBytes(UInt64(scope.rawValue)) + plainBytes(nameHash(1, owner)), seed: 3)
        case .zone(let database, let owner, let text):
            let seed = PlainHash.hash(plainBytes(nameHash(3, database)) + plainBytes(nameHash(1, owner)), seed: 4)
            return PlainHash.hash(Array(text.utf8), seed: seed)
        }
    }

    private func hash(_ key: RecordKey) -> UInt128 {
        PlainHash.hash(Array(key.name.utf8), seed: nameHash(4, key.zone))
    }

    func digests(of key: RecordKey, _ state: RecordState) throws -> Pair {
        var fields: UInt128 = 0
        for field in state.fields {
            fields &+= try hash(field.value, seed: nameHash(6, UInt64(field.field)))
        }
        let header = state.header
        let content = PlainHash.hash(
            plainBytes(1 as UInt64) + plainBytes(nameHash(5, header.type)) + plainBytes(state.parent.map(hash) ?? 0)
                + plainBytes(state.share.map(hash) ?? 0) + plainBytes(fields), seed: hash(key))
        let numbers = [header.version.packed, UInt64(bitPattern: header.created), UInt64(bitPattern: header.modified)]
        let users = plainBytes(nameHash(1, header.createdBy)) + plainBytes(nameHash(1, header.modifiedBy))
        let device = plainBytes(nameHash(2, header.modifiedWith))
        let state = PlainHash.hash(numbers.flatMap { plainBytes($0) } + users + device, seed: content)
        return Pair(state: state, content: content)
    }

    private func hash(_ value: FieldValue, seed: UInt128) throws -> UInt128 {
        switch value {
        case .reference(let reference):
            return PlainHash.hash(
                plainBytes(7 as UInt64) + plainBytes(UInt64(reference.action.rawValue))
                    + plainBytes(hash(reference.target)), seed: seed)
        case .list(let list) where list.elements.first?.kind == .reference:
            var last = PlainHash.hash(plainBytes(UInt64(64 + 7)), seed: seed)
            for element in list.elements { last = try hash(element, seed: last) }
            return last
        default: return PlainHash.hash(try value.encoded(), seed: seed)
        }
    }

    func digests(ofZone ordinal: UInt64, _ zone: Zone) -> Pair {
        let numbers = [2, UInt64(zone.status), zone.capabilities, UInt64(zone.scope)]
        let content = PlainHash.hash(numbers.flatMap { plainBytes($0) }, seed: nameHash(4, ordinal))
        let state = PlainHash.hash(
            plainBytes(zone.version.packed) + plainBytes(zone.incarnation.packed), seed: content)
        return Pair(state: state, content: content)
    }

    func recordDigests(ofZone zone: UInt64) throws -> Pair {
        var sum = Pair()
        for (key, state) in records where key.zone == zone { Self.add(try digests(of: key, state), to: &sum) }
        return sum
    }

    static func add(_ more: Pair, to sum: inout Pair) {
        sum.state &+= more.state
        sum.content &+= more.content
    }

    private func row(_ tree: UInt64, _ owner: [UInt128], _ version: Version, _ body: (UInt128) throws -> UInt128)
        rethrows
        -> Pair
    {
        let content = try body(PlainHash.hash(owner.flatMap { plainBytes($0) }, seed: UInt128(tree)))
        return Pair(state: PlainHash.hash(plainBytes(version.packed), seed: content), content: content)
    }

    func digests(of row: Row<UserChangedEvent>) -> Pair {
        let user = row.value
        return self.row(7, [nameHash(1, user.user)], row.version) { seed in
            let account = PlainHash.hash(
                plainBytes(UInt64(user.status.rawValue)) + plainBytes(user.quota), seed: seed)
            let person = (try? user.person.encoded()) ?? []
            return person.isEmpty ? account : PlainHash.hash(person, seed: account)
        }
    }

    func digests(of row: Row<ClientTokenEvent>) -> Pair {
        let token = row.value
        return self.row(9, [nameHash(4, token.zone), nameHash(2, token.device)], row.version) { seed in
            PlainHash.hash(token.token, seed: seed)
        }
    }

    func digests(of row: Row<SchemaChangedEvent>) -> Pair {
        self.row(6, [nameHash(5, row.value.type)], row.version) { seed in
            var sum: UInt128 = 0
            for field in row.value.fields {
                let kind = UInt64(field.kind.rawValue) + (field.isEncrypted ? 128 : 0)
                sum &+= PlainHash.hash(
                    plainBytes(kind) + plainBytes(UInt64(field.indexes.rawValue)),
                    seed: nameHash(6, UInt64(field.field)))
            }
            for grant in row.value.grants {
                let role = PlainHash.hash(Array(grant.role.utf8))
                sum &+= PlainHash.hash(plainBytes(UInt64(grant.permissions.rawValue)), seed: role)
            }
            return PlainHash.hash(plainBytes(sum), seed: seed)
        }
    }

    func digests(of row: Row<SubscriptionSavedEvent>) throws -> Pair {
        let (event, subscription) = (row.value, row.value.subscription)
        let owner = [
            nameHash(3, event.database), nameHash(1, event.user), PlainHash.hash(Array(subscription.id.utf8)),
        ]
        return try self.row(5, owner, row.version) { seed in
            let numbers = [
                UInt64(subscription.kind.rawValue), subscription.options.rawValue,
                subscription.notification == nil ? 0 : 1,
            ]
            let names = plainBytes(nameHash(4, subscription.zone)) + plainBytes(nameHash(5, subscription.recordType))
            let first = PlainHash.hash(numbers.flatMap { plainBytes($0) } + names, seed: seed)
            let second = PlainHash.hash(Array(subscription.predicate.utf8), seed: first)
            return PlainHash.hash(try subscription.notification?.encoded() ?? [], seed: second)
        }
    }

    func digests(of row: Row<ShareSavedEvent>) -> Pair {
        let share = row.value
        let owner = [nameHash(4, share.record.zone), PlainHash.hash(Array(share.record.name.utf8))]
        return self.row(21, owner, row.version) { seed in
            let numbers = [
                share.share, UInt64(share.publicPermission.rawValue), share.isEnded ? 1 : 0,
                share.root == nil ? 0 : 1, UInt64(share.oneTimeTokens.count),
            ]
            var hash = PlainHash.hash(numbers.flatMap { plainBytes($0) }, seed: seed)
            hash = PlainHash.hash(Array((share.root ?? "").utf8), seed: hash)
            hash = PlainHash.hash(Array(share.urlToken.utf8), seed: hash)
            for token in share.oneTimeTokens {
                hash = PlainHash.hash(Array(token.token.utf8), seed: hash)
                hash = PlainHash.hash(Array(token.participant.utf8), seed: hash)
            }
            return hash
        }
    }

    func digests(of row: Row<SecretDrawnEvent>) -> Pair {
        self.row(27, [], row.version) { PlainHash.hash(plainBytes(row.value.number), seed: $0) }
    }

    func digests(of row: Row<RulesStatedEvent>) throws -> Pair {
        try self.row(30, [], row.version) { PlainHash.hash(Array(try row.value.event().body), seed: $0) }
    }

    func digests(of row: Row<UserRecordNamedEvent>) -> Pair {
        self.row(29, [nameHash(1, row.value.user)], row.version) {
            PlainHash.hash(Array(row.value.recordName.utf8), seed: $0)
        }
    }

    func digests(of row: Row<MemberChangedEvent>) -> Pair {
        let member = row.value
        return self.row(23, [nameHash(1, member.user), nameHash(4, member.zone)], row.version) { seed in
            let numbers = [
                member.share, UInt64(member.permission.rawValue), UInt64(member.role.rawValue),
                member.isGone ? 1 : 0,
            ]
            return PlainHash.hash(numbers.flatMap { plainBytes($0) }, seed: seed)
        }
    }

    func digests() throws -> Pair {
        var sum = Pair()
        for (ordinal, zone) in zones { Self.add(digests(ofZone: ordinal, zone), to: &sum) }
        for (key, state) in records { Self.add(try digests(of: key, state), to: &sum) }
        for row in subscriptions.values { Self.add(try digests(of: row), to: &sum) }
        for row in schema.values { Self.add(digests(of: row), to: &sum) }
        for row in users.values { Self.add(digests(of: row), to: &sum) }
        for row in clientTokens.values { Self.add(digests(of: row), to: &sum) }
        for row in recordNames.values { Self.add(digests(of: row), to: &sum) }
        for row in secrets.values { Self.add(digests(of: row), to: &sum) }
        for row in statedRules.values { Self.add(Pair(state: try digests(of: row).state), to: &sum) }
        for row in shares.values { Self.add(digests(of: row), to: &sum) }
        for row in members.values { Self.add(digests(of: row), to: &sum) }
        return sum
    }
}
