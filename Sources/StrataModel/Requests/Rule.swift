/// A rule by which requests are judged. `B` numbers refer to docs/behavior.md, paragraphs to docs/rules.md.
///
/// ```swift
/// if let rule = refusal.rule { print(rule.number, rule.sentence) }
/// ```
public enum Rule: String, Sendable, CaseIterable {
    case recordNames = "B3"
    case zoneNames = "B4"
    case recordTypes = "B6"
    case keys = "B7"
    case encryptedValues = "B21"
    case boundKinds = "B23"
    case enforcedSchema = "B24"
    case customZones = "B31"
    case existingZone = "B32"
    case existingZoneOfDelete = "B35"
    case zonesOnce = "B36"
    case zonesTakenByService = "B38"
    case zoneKeys = "B39"
    case currentTag = "B51"
    case newRecordOnly = "B52"
    case staleTag = "B53"
    case tagOfMissingRecord = "B54"
    case changedKeysPolicy = "B55"
    case allKeysPolicy = "B56"
    case savesWithoutRecord = "B57"
    case parentTouch = "B61"
    case clientTokens = "B65"
    case recordsOnce = "B66"
    case itemLimit = "B67"
    case byteLimit = "B68"
    case atomicZone = "B81"
    case deleteOfMissingRecord = "B91"
    case deleteInMissingZone = "B92"
    case referencesWithinZone = "B93"
    case cascade = "B95"
    case referrerLimit = "B98"
    case existingParent = "B99"
    case neededParent = "B101"
    case failedParent = "B102"
    case userRecords = "B116"
    case queriesOfUsers = "B121"
    case subscriptionPredicate = "B122"
    case queryLimits = "B124"
    case predicate = "B126"
    case queriesOfAllZones = "B141"
    case queriedType = "B142"
    case pageLimit = "B143"
    case cursors = "B144"
    case changesOfPublicDatabase = "B150"
    case tokenScope = "B151"
    case changesOfDefaultZone = "B156"
    case expiredToken = "B161"
    case subscriptionIDs = "B180"
    case subscriptionScope = "B181"
    case subscribedZone = "B182"
    case subscriptionEvents = "B183"
    case existingSubscription = "B184"
    case subscriptionsOnce = "B185"
    case desiredKeyLimit = "B190"
    case signedIn = "B220"
    case availableAccount = "B221"
    case grants = "B222"
    case ownZone = "B266"
    case shareNames = "B303"
    case newShares = "B304"
    case sharedZones = "B307"
    case ownersShares = "B308"
    case zoneSharedAsWhole = "B310"
    case zoneWithShares = "B311"
    case sharedOnce = "B312"
    case sharedRoot = "B313"
    case existingShare = "B314"
    case visibilityLimit = "B322"
    case endedShare = "B324"
    case invitedUsers = "B327"
    case validParticipants = "B331"
    case shareEditors = "B332"
    case participantLimit = "B341"
    case existingShareOfURL = "B346"
    case acceptedShare = "B349"
    case invitedOnly = "B352"
    case acceptedAgain = "B353"
    case visibleRecords = "B356"
    case zonesOfMembers = "B358"
    case readOnlyMember = "B369"
    case memberDeletes = "B370"
    case sharedChain = "B372"
    case ownParticipation = "B375"
    case shareReferences = "B474"
    case givenPermissions = "B475"
    case currentShareTag = "B379"
    case readGrants = "B395"
    case serviceRequests = "§2.1"
    case clientTokenLimit = "§2.2"
    case requestNames = "§2.3"
    case zoneSave = "§3"
    case keysOfType = "§5.7"
    case referenceNames = "§5.8"
    case recordLimits = "§5.9"
    case recordDelete = "§7"
    case commitLimit = "§9"
    case schema = "§10"
    case declaredTypes = "§10.1"
    case declaredFields = "§10.2"
    case declaredKinds = "§10.3"
    case declaredIndexes = "§10.4"
    case declaredRoles = "§10.5"
    case subscriptions = "§11"
    case notices = "§12"
    case administration = "§13"

    /// The number of the rule: `B53`, or a paragraph such as `§5.9`.
    public var number: String { rawValue }

    /// The page of docs/ with the details.
    public var page: String { number.hasPrefix("B") ? "behavior.md" : "rules.md" }

    /// The rule in a sentence or two.
    public var sentence: String { Self.sentences[number] ?? "" }

    private static let sentences: [String: String] = {
        let pairs = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.map { ($0[0], $0[1]) }) { first, _ in first }
    }()

    /// The number and the sentence of each rule, one rule per line.
    private static let text = """
        B3 A record name has 1 to 255 characters, contains no control character, and does not begin with an \
        underscore.
        B4 A zone name has 1 to 255 characters, contains no control character, and does not begin with an \
        underscore, except for _defaultZone.
        B6 A record type is an ASCII letter followed by letters, digits and underscores, 255 characters at \
        most. A stored record keeps its type.
        B7 A field key is an ASCII letter followed by letters, digits and underscores, 255 characters at most.
        B21 Encrypted values are allowed in private and shared databases only, and assets and references cannot be \
        encrypted.
        B23 The first accepted save of a key binds its value type for the record type. Later values must fit; \
        numbers convert if that is exact.
        B24 An open schema grows with each save. An enforced schema refuses undeclared types and keys, and \
        queries without the declared index.
        B31 Zones can be saved, deleted and purged in private databases only.
        B32 A zone must exist before records in it can be saved or fetched.
        B35 Deleting a zone deletes all its records. Deleting a nonexistent zone fails.
        B36 A request names each zone or subscription at most once, and the default zone cannot be deleted. \
        Zones are judged one by one.
        B38 Only the service purges zones and resets encrypted data. Requests to a purged zone get \
        userDeletedZone, and to a reset zone a marked zoneNotFound.
        B39 A zone's encryption scope is fixed when the zone is created. Saving the zone with another scope \
        fails.
        B51 Under ifServerRecordUnchanged, a save succeeds only if its tag matches the stored record's tag, or \
        if it has no tag and no record is stored.
        B52 A save without a tag creates the record, and fails if a record of that name exists.
        B53 A save fails if its tag differs from the stored tag: the record has changed since it was fetched.
        B54 A save with a tag updates the record, and fails if no record of that name exists.
        B55 Under changedKeys, a save ignores tags and writes the changed keys only. Other stored keys keep \
        their values.
        B56 Under allKeys, a save ignores tags and writes every key of the local record. Stored keys that the \
        local record lacks keep their values.
        B57 Under changedKeys and allKeys, a save creates the record if no record of that name exists.
        B61 Saving a child gives its parent a new change tag, unless the request includes the parent. .embedded \
        leaves parents unchanged.
        B65 If a device repeats a request with its last client token, the store returns the original results \
        and writes nothing.
        B66 A request names each record at most once, to be saved or deleted.
        B67 A request has at most 400 items, saves and deletes together; 10,000 under .embedded.
        B68 Without assets, a record has at most 1 MB and a request at most 2 MB; 16 MB and 64 MB under \
        .embedded.
        B81 If an item of an atomic zone fails, nothing in that zone is written, and the zone's other items \
        fail with batchRequestFailed.
        B91 Deleting a nonexistent record succeeds and changes nothing.
        B92 Deleting a record in a nonexistent zone fails.
        B93 A reference or parent must name a record of the same zone.
        B95 Deleting a record also deletes the records that refer to it with deleteSelf, in any field and \
        recursively.
        B98 At most 750 records may refer to one record with deleteSelf; 1,000,000 under .embedded.
        B99 A record's parent must exist or be saved by the same request, in any order.
        B101 A delete fails if a record that is not deleted would lose its parent.
        B102 If the save of a parent fails, the same request's save of its child fails too, with \
        referenceViolation, or with batchRequestFailed in an atomic zone.
        B116 Each user has a user record in the public and in the private database. The system creates it, only \
        its user can change it, and it cannot be deleted.
        B121 The record type Users cannot be queried or watched by a query subscription.
        B122 A query or query subscription needs a predicate that the store supports, made from a format string \
        or a constant. Block predicates are refused.
        B124 .service refuses OR, ALL, NONE, ENDSWITH, LIKE, MATCHES, @count and key paths. .embedded accepts \
        them, within limits on matching cost.
        B126 A query fails when it runs if its predicate is malformed, compares a key with another type, or \
        names an unknown key. .embedded treats unknown keys as missing fields.
        B141 A query without a zone searches all zones of the database. In the shared database it must name a \
        zone.
        B142 Queries, subscriptions and index declarations must name an existing record type. .embedded returns \
        no records for an unknown type.
        B143 resultsLimit caps a page; 0 lets the store choose, and a negative limit fails. A nil cursor marks \
        the last page.
        B144 A cursor resumes after the last result, so other saves cause no repeats or gaps. It is valid only \
        for its store and database.
        B150 The public database does not track changes: database changes exist in private and shared databases \
        only.
        B151 A fetch from a nil token returns what exists now, without deletions. Zone tokens and database \
        tokens are not interchangeable.
        B156 Default zones do not track changes. Fetching their changes fails, and database changes never list \
        them.
        B161 A token fails if it has expired, was changed, or belongs to another store, database, zone or history, \
        or to an earlier life of the zone. The client then fetches from nil.
        B180 A subscription ID has 1 to 255 characters and no control character. Saving under an existing ID \
        replaces that subscription.
        B181 Query subscriptions exist in public and private databases, zone subscriptions in private ones, and \
        database subscriptions in private and shared ones.
        B182 A zone that a subscription names must exist. A zone subscription cannot watch the default zone.
        B183 A query subscription fires for creation, update or deletion, at least one of them. One that fires \
        once is deleted afterward.
        B184 Fetching or deleting a nonexistent subscription fails for that ID.
        B185 A user cannot have two subscriptions in a database with the same kind, zone, record type, \
        predicate and options.
        B190 A notification has at most three desired keys. It includes strings, numbers, dates, locations and \
        references, and cuts strings at 100 characters.
        B220 A caller must be signed in, except to read records and zones of the public database.
        B221 The caller's account must be available, with the same exception as in B220.
        B222 Schema grants decide who can read, create and change public records. Without grants, everyone can \
        read them, any user can create them and only the creator can change them.
        B266 A zone owned by another user does not exist in this database.
        B303 A share of a whole zone is named cloudkit.zoneshare. A share of another name has a root record.
        B304 A new share of a root record is saved in one request with its root, whose share names it. A share \
        has no parent and cannot be the root of another share.
        B307 Shares are in custom zones of private databases only.
        B308 Only the owner of a zone creates shares in it.
        B310 In a zone that is shared as a whole, no record can be shared on its own.
        B311 A zone with shares of single records cannot be shared as a whole.
        B312 A record cannot be shared if it, a record above it or a record below it is the root of a share.
        B313 A save fails if it would bring the root of a share under another share.
        B314 The share that a record names must exist or be saved by the same request, and have the record as its \
        root.
        B322 A record that gets another parent comes with all records below it under the share of that parent. One \
        request can do so with 100,000 records at most.
        B324 When a share is deleted, its records stay, and its root loses the share and gets a new tag.
        B327 An invited user is found by the record ID or by an address. A record ID that no user has fails. An \
        address without an account belongs to the user who has it when the share is accepted.
        B331 Participants are added as private users or administrators, to a share that is not public. The owner \
        cannot be added.
        B332 Only the owner and administrators change the participants and permissions of a share, and no one \
        changes the owner's.
        B341 A share has at most 100 participants, including the owner, and nobody is in it twice.
        B346 A user whom a private share does not mention gets participantMayNeedVerification while an invitation to \
        an unmatched address waits, and else the answer for a URL of nothing.
        B349 Accepting a share makes the user a member and gives the share a new tag.
        B352 A share that is not public can be accepted only by the users who were invited.
        B353 Accepting one's own share, or one that has been accepted, succeeds and writes nothing.
        B356 A shared zone has the shared records and the shares themselves. Any other record, and any state of a \
        record from before it was shared with the user, is missing, for every way of reading.
        B358 In the shared database, a zone of one's own or one that was never shared is refused; a zone that the \
        user can no longer see does not exist.
        B369 A participant who may only read cannot save or delete records.
        B370 A participant with write permission can change and delete all shared records, except for the root, which \
        only the owner deletes.
        B372 What a participant saves must belong to a share that the participant may change, through its parents, \
        also if the parent is not visible or does not exist.
        B375 Participants cannot change their own role or permission. They leave by deleting the share.
        B474 The record of a share has no deleteSelf reference. In shared databases, a deleteSelf reference keeps \
        nobody from deleting a record that its author may not change.
        B475 An administrator gives no participant, and not the public, a greater permission than the own one.
        B379 Participants and permissions of a share are saved only with the current tag, and a stored share only \
        with a tag, whatever the policy is.
        B395 Without READ on a record type, its public records cannot be fetched, queried or watched by a query \
        subscription. READ granted to _creator covers the user's own records.
        §2.1 Only the service administers zones, accounts and tokens, records deliveries and declares schemas.
        §2.2 A client token has at most 65,536 bytes.
        §2.3 A request has a name for each ordinal it uses, each key of a save occurs once, and its names fit \
        in a commit.
        §3 A zone is saved by its owner under a valid name. Deleting a zone deletes all its records.
        §5.7 A record type has at most 65,535 keys.
        §5.8 The name of a reference's target has 1 to 255 characters.
        §5.9 A record has at most 65,535 keys, and what a save adds fits in the quota of its user.
        §7 An existing record can be deleted by a user who may change it.
        §9 The changes of a request fit in one commit.
        §10 A schema can be declared if it fits the keys that are bound already.
        §10.1 Each type of a declaration is a valid name and occurs once; where only indexes are added, it \
        exists.
        §10.2 Each field of a declaration is a valid key or a system field, and occurs once.
        §10.3 A field keeps the kind that it is bound to.
        §10.4 A field has only indexes that its kind allows.
        §10.5 The role of a grant is a system role or a valid name.
        §11 A subscription belongs to the user who saves it, in one of that user's databases.
        §12 Only the service records deliveries to devices.
        §13 Only the service changes accounts, expires tokens and erases records.
        """
}
