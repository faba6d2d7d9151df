import StrataModel

/// The rules of docs/rules.md once more: plain, slow and without indexes, to be compared with the store.
///
/// Its versions are its own: the offset counts the requests that wrote something, the event index what the request
/// wrote to records and zones. Whoever compares it with a store keeps a table of which version stands for which,
/// learns it from results, and checks that it is one to one; base versions of requests come translated to the
/// model's. Versions from ``inventedOffset`` on belong to no store and stay as they are, as does 0, the version of
/// a default zone that nobody has written. Messages of refusals and the order of deletions within one cascade are
/// not part of the contract; the numbers of the rules are.
package struct ReferenceStore: Sendable {
    package static let inventedOffset: UInt64 = 1 << 40

    package internal(set) var state = ReferenceState()
    /// Requests that wrote something.
    package private(set) var commitCount: UInt64 = 0
    /// The state after each commit, that before the first one included.
    package private(set) var past = [ReferenceState()]
    package let limits: ReferenceLimits
    package let mutation: Mutation?
    let touchesParents: Bool
    package let userRecordName: @Sendable (String) -> String
    private var eventCount: UInt32 = 0
    /// When records of earlier lives were made: only a mutation looks.
    var earlierCreations: [DatabaseID: [ReferencePlace: Int64]] = [:]

    /// - Parameter userRecordName: the name of a user's record, of which the model cannot compute the hash.
    package init(
        limits: ReferenceLimits = .service, parentTouch: Bool = true, mutation: Mutation? = nil,
        userRecordName: @escaping @Sendable (String) -> String
    ) {
        self.limits = limits
        self.mutation = mutation
        self.userRecordName = userRecordName
        touchesParents = parentTouch
    }

    /// Judges a request, and writes what is accepted of it.
    ///
    /// - Parameter time: microseconds since 1970.
    package mutating func modify(_ request: Request, as actor: Actor, time: Int64) throws(Refusal) -> RequestResult {
        defer { if past.count <= Int(commitCount) { past.append(state) } }
        return try judge(request, actor, time)
    }

    private mutating func judge(_ request: Request, _ actor: Actor, _ time: Int64) throws(Refusal) -> RequestResult {
        guard !actor.user.isEmpty || bends(.signedOutMayWrite) else {
            throw Refusal(.notAuthenticated, "nobody is signed in", rule: .signedIn)
        }
        if actor != .service { try checkAccount(of: actor.user) }
        guard (actor == .service) == request.content.isOfService else {
            throw Refusal(.permissionFailure, "the service administers, and nobody else", rule: .zonesTakenByService)
        }
        var asker = Asker(request, actor, userRecordName: userRecordName)
        if request.content.isOfSharedZones, request.database.scope == .shared { try enter(&asker, request.names) }
        switch request.content {
        case .modifyRecords(let content): return try modifyRecords(content, request.names, asker, time)
        case .modifyZones(let content): return try modifyZones(content, request.names, asker, time)
        case .administer(let content): return try administer(content, request.names, asker)
        case .modifySubscriptions(let content): return try modifySubscriptions(content, request.names, asker, time)
        case .declareSchema(let content): return try declareSchema(content, request.names)
        case .joinShares(let content): return try joinShares(content, asker, time)
        case .notify: throw Refusal(.internalError, "it is not modelled")
        }
    }

    /// The first part of docs/rules.md §2 that all requests share.
    func checkItemCount(_ count: Int) throws(Refusal) {
        guard count <= limit(limits.itemsPerRequest, less: .oneItemLess, more: .oneItemMore) else {
            throw Refusal(.limitExceeded, "too many items", rule: .itemLimit)
        }
    }

    mutating func beginCommit() {
        commitCount += 1
        eventCount = 0
    }

    mutating func nextVersion() -> Version {
        defer { eventCount += 1 }
        return Version(offset: commitCount, eventIndex: eventCount)
    }
}

/// Who asks for what in which database.
struct Asker {
    let actor: Actor
    /// Of a member's request, that of the owner of the zones.
    var database: DatabaseID
    /// The owner's record name, of a member's request.
    var sharer: ReferenceName?
    /// Whether the zones are those that others share with the actor.
    var isMember = false
    /// Whether the database is that of somebody else.
    let isElsewhere: Bool
    let userRecord: ReferencePlace
    private let ownNames: [ReferenceName]

    init(_ request: Request, _ actor: Actor, userRecordName: (String) -> String) {
        self.actor = actor
        let isService = actor == .service
        let owner = isService ? request.database.owner : actor.user
        let name = ReferenceName(userRecordName(owner))
        ownNames = ["", "__defaultOwner__", name]
        userRecord = ReferencePlace(owner: "", zone: .defaultZone, name: name)
        let isPublic = request.database.scope == .public
        database = DatabaseID(request.database.scope, owner: isPublic ? "" : owner)
        let named = ReferenceName(request.database.owner)
        isElsewhere = !isPublic && !isService && named != ReferenceName(actor.user) && !ownNames.contains(named)
    }

    /// What an owner means: nothing if it is the database's.
    func owner(_ zone: ZoneID) -> ReferenceName {
        let owner = ReferenceName(zone.owner)
        if isMember { return owner == sharer ? "" : ownNames.contains(owner) ? "another" : owner }
        if ownNames.contains(owner) { return isElsewhere ? "another" : "" }
        return owner
    }
}

extension Request.Content {
    var isOfService: Bool {
        switch self {
        case .administer, .declareSchema, .notify: true
        case .modifyRecords, .modifyZones, .modifySubscriptions, .joinShares: false
        }
    }

    fileprivate var isOfSharedZones: Bool {
        switch self {
        case .modifyRecords, .modifyZones: true
        default: false
        }
    }
}
