import StrataModel
import StrataViews

/// Judges the service's changes to accounts and tokens, and its notes (docs/rules.md §13).
struct AdministerJudge: RequestJudge {
    let judging: Judging
    private let body: AdministerRequest
    var names: NameWriter
    var view: RulesView { judging.view }

    init(_ judging: Judging, _ body: AdministerRequest) {
        self.judging = judging
        self.body = body
        names = NameWriter(judging.view)
    }

    consuming func decide() throws -> Decision {
        switch body {
        case .purgeZone(let zone): try ZonesJudge(judging, ModifyZonesRequest()).decidePurge(of: zone)
        case .resetEncryptedData: try ZonesJudge(judging, ModifyZonesRequest()).decideReset()
        case .setAccountStatus(let status, let user): try setAccount(of: user) { $0.status = status }
        case .setQuota(let bytes, let user): try setAccount(of: user) { $0.quota = bytes }
        case .expireTokens(let offset, let isInAll): try expireTokens(before: offset, inAll: isInAll)
        case .note(let note): try keep(note)
        case .eraseRecords(let records, let reason): try erase(records, reason: reason)
        case .setPerson(let person, let user, let recordName):
            try setPerson(person, of: user, recordName: recordName)
        case .addAddress(let address, let user): try addAddress(address, to: user)
        case .setRole(let role, let users): try setRole(role, of: users)
        case .setDiscoverability(let discoverability, let user):
            try setAccount(of: user) { $0.person.discoverability = discoverability }
        case .drawSecret(let from, let before): try drawSecret(from: from, before: before)
        }
    }

    /// - Parameter declares: True if a user whom no commit has named is to be known from now on, even without a change.
    mutating func setAccount(
        of user: String, declares: Bool = false, _ change: (inout Account) -> Void
    ) throws -> Decision {
        try setAccounts(of: [try self.change(of: user, declares: declares, change)].compactMap(\.self))
    }

    /// Returns the event of a change; nil if nothing changes.
    mutating func change(
        of user: String, declares: Bool = false, _ change: (inout Account) -> Void
    ) throws -> UserChangedEvent? {
        guard !user.isEmpty else {
            throw Refusal(.invalidArguments, "The request must name the user of the account.", rule: .administration)
        }
        try Judging.checkRoom(for: user)
        let before = try view.account(of: user)
        var account = before
        change(&account)
        guard try account != before || declares && view.ordinal(of: .user(user)) == nil else { return nil }
        let ordinal = try names.ordinal(of: .user(user))
        return UserChangedEvent(user: ordinal, status: account.status, quota: account.quota, person: account.person)
    }

    mutating func setAccounts(of changes: [UserChangedEvent]) throws -> Decision {
        if changes.isEmpty { return nothing }
        var decision = try commit(changes)
        decision.changesAccounts = true
        return decision
    }

    private mutating func expireTokens(before offset: UInt64, inAll: Bool) throws -> Decision {
        let end = view.fold.offset
        // The offset after the end expires every existing token, and no later one.
        guard offset <= end + 1 else {
            throw Refusal(
                .invalidArguments,
                "Tokens can be expired up to offset \(end + 1), the one after the end; \(offset) is past it.",
                rule: .administration)
        }
        var database: UInt64 = 0
        if !inAll {
            let owner = judging.request.database.owner
            let isPublic = judging.request.database.scope == .public
            guard !isPublic, let user = try view.ordinal(of: .user(owner)),
                let ordinal = try view.ordinal(of: .database(judging.request.database.scope, owner: user))
            else { return nothing }
            database = ordinal
        }
        guard try offset > view.fold.fork.tokenExpiry(of: database) else { return nothing }
        return try commit([TokensExpiredEvent(offset: offset, database: database)])
    }

    private mutating func keep(_ note: ConsoleNote) throws -> Decision {
        try Judging.checkRoom(for: note.user)
        try Judging.checkRoom(for: note.device)
        let bytes = note.text.utf8.count
        guard bytes <= ConsoleNote.maximumTextBytes else {
            throw Refusal(
                .invalidArguments, "A note has \(bytes) bytes, more than \(ConsoleNote.maximumTextBytes).",
                rule: .administration)
        }
        return try commit([ConsoleActedEvent(note)])
    }

    /// Judges an erasure, which is rejected like a deletion if a record would lose its parent.
    private mutating func erase(_ records: [RecordToErase], reason: String) throws -> Decision {
        try judging.limits.checkItemCount(records.count)
        guard !records.isEmpty, reason.utf8.count <= RecordErasedEvent.maximumReasonBytes else {
            throw Refusal(
                .invalidArguments,
                "An erasure names records, and a reason of at most \(RecordErasedEvent.maximumReasonBytes) bytes.",
                rule: .administration)
        }
        var erasure = Erasure(judging.resolved, view, judging.limits, reason: reason, time: judging.context.time)
        for item in records { try erasure.add(item, typeName: judging.request.names.recordType(item.type)) }
        var commit = CommitBuilder()
        try erasure.append(to: &commit)
        return try finish(commit)
    }

    var nothing: Decision { Decision(.nothing, RequestResult(), trace: judging.newTrace) }

    private func commit(_ events: [some EventBody]) throws -> Decision {
        var commit = CommitBuilder()
        try names.append(to: &commit)
        let first = commit.count
        for event in events { try commit.append(event) }
        return try finish(commit, firstItemEvent: first)
    }

    func finish(_ commit: CommitBuilder, firstItemEvent: UInt32 = 0) throws -> Decision {
        var shape = RequestShape(.administer, firstItemEvent: firstItemEvent, saveCount: 0, deleteCount: 0)
        try shape.keep(judging.request)
        let header = try judging.context.header(.console, user: 0, device: 0, shape)
        return Decision(commit, header, RequestResult(), naming: names.new, trace: judging.newTrace)
    }
}
