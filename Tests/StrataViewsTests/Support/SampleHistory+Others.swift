import StrataModel

extension SampleHistory {
    mutating func appendZoneEvent() throws {
        let zone = generator.next(below: HistoryNames.zoneCount)
        let ordinal = names.ordinal(.zone(zone))
        let database = names.ordinal(.database(HistoryNames.databaseOfZone[zone]))
        guard let life = zones[zone] else {
            zones[zone] = append(try savedZone(ordinal, database, nil).event())
            return
        }
        guard let incarnation = version(life) else { return }
        if chance(60) {
            _ = append(try savedZone(ordinal, database, incarnation).event())
            return
        }
        let reasons = ZoneDeletedEvent.Reason.allCases
        let reason = reasons[generator.next(below: reasons.count)]
        _ = append(
            try ZoneDeletedEvent(zone: ordinal, database: database, incarnation: incarnation, reason: reason).event())
        zones[zone] = nil
        records = records.filter { $0.key.zone != zone }
    }

    private mutating func savedZone(_ zone: UInt64, _ database: UInt64, _ incarnation: Version?) -> ZoneSavedEvent {
        ZoneSavedEvent(
            zone: zone, database: database, incarnation: incarnation,
            capabilities: ZoneCapabilities(rawValue: UInt64(generator.next(below: 16))),
            encryptionScope: chance(30) ? .zone : .record)
    }

    mutating func appendOther() throws {
        let user = generator.next(below: HistoryNames.userCount)
        switch generator.next(below: 14) {
        case 0:
            let database = generator.next(below: HistoryNames.databaseCount)
            _ = append(try DatabaseCreatedEvent(database: names.ordinal(.database(database))).event())
        case 1:
            let statuses = AccountStatus.allCases
            let status = statuses[generator.next(below: statuses.count)]
            let quota = values.nextNumber()
            _ = append(
                try UserChangedEvent(
                    user: names.ordinal(.user(user)), status: status, quota: quota,
                    person: Self.person(user, quota)
                ).event())
        case 2:
            let device = names.ordinal(.device(user: user, generator.next(below: HistoryNames.devicesPerUser)))
            _ = append(try DeviceSeenEvent(device: device).event())
            if chance(50) {
                let through = UInt64(generator.next(below: 90))
                _ = append(try NotificationDeliveredEvent(device: device, through: through, badge: through / 9).event())
            }
        case 3: try appendSchema()
        case 4:
            let zone = names.ordinal(.zone(generator.next(below: HistoryNames.zoneCount)))
            let device = names.ordinal(.device(user: user, generator.next(below: HistoryNames.devicesPerUser)))
            let token = generator.nextBytes(generator.next(below: 40))
            _ = append(try ClientTokenEvent(zone: zone, device: device, token: token).event())
        case 5:
            let database = generator.next(below: HistoryNames.databaseCount + 1)
            _ = append(
                try TokensExpiredEvent(
                    offset: UInt64(generator.next(below: 90)),
                    database: database == 0 ? 0 : names.ordinal(.database(database - 1))
                ).event())
        case 6: try appendShare()
        case 7 where !shares.isEmpty: try appendMember(user)
        case 8 where !shares.isEmpty: try appendSharedRecord()
        default: try appendSubscription(of: user)
        }
    }

    private mutating func appendShare() throws {
        let isNew = shares.isEmpty || chance(50)
        if isNew { shares.append((generator.next(below: HistoryNames.zoneCount), false)) }
        let number = isNew ? shares.count : 1 + generator.next(below: shares.count)
        if shares[number - 1].isEnded || !isNew && chance(30) { shares[number - 1].isEnded = true }
        let zone = names.ordinal(.zone(shares[number - 1].zone))
        let tokens = (0..<generator.next(below: 3)).map {
            ShareSavedEvent.OneTimeToken("once\(number)-\($0)", of: "p\($0)")
        }
        let permission = SharePermission.allCases[generator.next(below: 3)]
        _ = append(
            try ShareSavedEvent(
                share: UInt64(number), record: RecordKey(zone: zone, name: "Share-\(number)"),
                root: number % 3 == 0 ? nil : HistoryNames.record(number % 13), publicPermission: permission,
                urlToken: "token\(number)", oneTimeTokens: tokens, isEnded: shares[number - 1].isEnded
            ).event())
    }

    private mutating func appendMember(_ user: Int) throws {
        let number = generator.next(below: shares.count)
        let joined = chance(50) ? Version(offset: UInt64(1 + generator.next(below: 90)), eventIndex: 3) : nil
        _ = append(
            try MemberChangedEvent(
                user: names.ordinal(.user(user)), share: UInt64(number + 1),
                zone: names.ordinal(.zone(shares[number].zone)),
                permission: SharePermission.allCases[generator.next(below: 3)],
                role: ShareRole.allCases[generator.next(below: 4)], joined: joined, isGone: chance(30)
            ).event())
    }

    private mutating func appendSharedRecord() throws {
        let number = generator.next(below: shares.count)
        let record = RecordKey(
            zone: names.ordinal(.zone(shares[number].zone)),
            name: HistoryNames.record(generator.next(below: 13)))
        let type = names.ordinal(.type(generator.next(below: HistoryNames.typeCount)))
        _ = append(try SharedRecordEvent(record, type: type, share: UInt64(number + 1), isGone: chance(30)).event())
    }

    private mutating func appendSchema() throws {
        let type = names.ordinal(.type(generator.next(below: HistoryNames.typeCount)))
        var fields: [UInt32: SchemaField] = [:]
        for _ in 0..<generator.next(below: 4) {
            let field = UInt32(names.ordinal(.field(generator.next(below: HistoryNames.fieldCount))))
            let kind = FieldKind(rawValue: UInt8(1 + generator.next(below: 8)))
            fields[field] = SchemaField(
                field, chance(20) ? kind.list : kind, isEncrypted: chance(20),
                indexes: .init(rawValue: UInt8(generator.next(below: 8))))
        }
        // In any order: nothing says that declarations are sorted.
        let sorted = fields.values.sorted { $0.field < $1.field }
        let grants = chance(30) ? [SchemaGrant("_icloud", .write), SchemaGrant("Editors", [.create, .write])] : []
        _ = append(
            try SchemaChangedEvent(type: type, fields: chance(50) ? sorted : sorted.reversed(), grants: grants).event())
    }

    private mutating func appendSubscription(of user: Int) throws {
        let number = generator.next(below: 13)
        let id = HistoryNames.record(number)
        let place = SubscriptionPlace(database: generator.next(below: 3), user: user, id: number)
        let database = names.ordinal(.database(place.database))
        let ordinal = names.ordinal(.user(user))
        if subscriptions.contains(place), chance(50) {
            let by = chance(50) ? Version(offset: UInt64(1 + generator.next(below: 90)), eventIndex: 0) : nil
            _ = append(
                try SubscriptionDeletedEvent(database: database, user: ordinal, id: id, firedBy: by).event())
            subscriptions.remove(place)
            return
        }
        var subscription = Subscription(id, Subscription.Kind.allCases[generator.next(below: 3)])
        if chance(50) { subscription.zone = names.ordinal(.zone(generator.next(below: HistoryNames.zoneCount))) }
        if chance(50) { subscription.recordType = names.ordinal(.type(generator.next(below: HistoryNames.typeCount))) }
        if chance(50) { subscription.predicate = "a == \(generator.next(below: 9))" }
        subscription.options = .init(rawValue: UInt64(generator.next(below: 16)))
        if chance(50) {
            var info = NotificationInfo()
            if chance(70) { info.title = "title" }
            subscription.notification = info
        }
        _ = append(try SubscriptionSavedEvent(database: database, user: ordinal, subscription).event())
        subscriptions.insert(place)
    }

    /// What is known of a user; which parts, the bits of a number say.
    private static func person(_ user: Int, _ bits: UInt64) -> Person {
        var person = Person()
        if bits & 1 > 0 { person.emails = ["User\(user)@example.com", "\(user).\(bits)@example.com"] }
        if bits & 2 > 0 { person.phones = ["+1 (\(user)) 55"] }
        if bits & 4 > 0 { person.roles = ["Editors"] }
        if bits & 8 > 0 { person.familyName = "Sample" }
        return person
    }
}
