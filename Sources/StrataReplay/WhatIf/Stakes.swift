import StrataModel

/// What a decision depends on that commits change.
enum Stakes {
    /// Perhaps on everything.
    case anything
    /// On these records, by their names, and on what hardly ever changes: zones, schemas, accounts.
    case records(Set<[UInt8]>)

    /// What it takes to refuse a request, or to find nothing to do.
    ///
    /// - Parameter isOfNone: whether the request came to nothing because none of its records is there.
    init(of request: Request, isOfNone: Bool) {
        guard case .modifyRecords(let body) = request.content, body.clientToken == nil,
            body.deletes.isEmpty || isOfNone && body.saves.isEmpty,
            !body.saves.contains(where: Self.refersToOthers)
        else {
            self = .anything
            return
        }
        let names = body.saves.map(\.record.name) + body.deletes.map(\.name)
        self = .records(Set(names.map { Array($0.utf8) }))
    }

    private static func refersToOthers(_ save: ModifyRecordsRequest.Save) -> Bool {
        if save.parent != .kept || save.share != .kept { return true }
        return save.fields.contains { $0.value?.kind.element == .reference }
    }

    /// Whether a commit can have changed it.
    func areTouched(by commit: CommitTouches) -> Bool {
        switch self {
        case .anything: true
        case .records(let names): commit.isGeneral || commit.names.contains { names.contains($0) }
        }
    }
}

/// What a commit changes, as far as decisions depend on it.
struct CommitTouches {
    /// Of records, in whatever zone.
    private(set) var names: [[UInt8]] = []
    /// Whether it does more than save and delete records.
    private(set) var isGeneral = false

    init(_ payload: ArraySlice<UInt8>) throws {
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            while let event = try walker.next() {
                switch event.kind {
                case .recordSaved, .recordDeleted:
                    guard let record = try RecordEvent(event.kind, event.body, of: bytes) else { continue }
                    names.append([UInt8](record.nameBytes))
                // A request without a token does not depend on those of others.
                case .clientTokenKept: break
                case _ where event.kind.isAudit && event.kind != .notificationDelivered: break
                default: isGeneral = true
                }
            }
        }
    }
}
