import StrataModel

/// The state that a decision depends on and that commits can change.
enum DecisionDependencies {
    /// Possibly everything.
    case anything
    /// These records, by name, and what hardly ever changes: zones, schemas, accounts.
    case records(Set<[UInt8]>)

    /// Finds the dependencies of a request that is refused or has nothing to do.
    ///
    /// - Parameter isOfNone: true if the request wrote nothing because none of its records exist.
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

    /// Returns true if a commit may have changed it.
    func areTouched(by commit: CommitTouches) -> Bool {
        switch self {
        case .anything: true
        case .records(let names): commit.isGeneral || commit.names.contains { names.contains($0) }
        }
    }
}

/// The changes of a commit, as far as decisions depend on them.
struct CommitTouches {
    /// The names of records, in any zone.
    private(set) var names: [[UInt8]] = []
    /// True if the commit does more than save and delete records.
    private(set) var isGeneral = false

    init(_ payload: ArraySlice<UInt8>) throws {
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            while let event = try walker.next() {
                switch event.kind {
                case .recordSaved, .recordDeleted:
                    guard let record = try RecordEvent(event.kind, event.body, of: bytes) else { continue }
                    names.append([UInt8](record.nameBytes))
                // A request without a token does not depend on the tokens of others.
                case .clientTokenKept: break
                case _ where event.kind.isAudit && event.kind != .notificationDelivered: break
                default: isGeneral = true
                }
            }
        }
    }
}
