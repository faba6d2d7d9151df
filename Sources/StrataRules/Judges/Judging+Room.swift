import StrataModel

/// Rejects data that fits in no commit, and with it the whole request (docs/rules.md §2.3): commits store rejected
/// items too.
extension Judging {
    func checkRoomForRequest() throws {
        try Self.checkRoom(for: context.actor.user)
        try Self.checkRoom(for: context.actor.device)
        try Self.checkRoom(for: request.database.owner)
        for zone in request.names.zones {
            try Self.checkRoom(for: zone.name)
            try Self.checkRoom(for: zone.owner)
        }
        for type in request.names.recordTypes { try Self.checkRoom(for: type) }
        for key in request.names.keys { try Self.checkRoom(for: key) }
        switch request.content {
        case .modifyRecords(let body):
            for delete in body.deletes { try Self.checkRoom(for: delete.name) }
        case .modifySubscriptions(let body):
            for id in body.deletes { try Self.checkRoom(for: id) }
            for save in body.saves { try Self.checkRoom(for: save) }
        case .joinShares(let body):
            guard body.tokens.allSatisfy({ $0.utf8.count <= ShareSavedEvent.maximumTokenBytes }) else {
                throw Refusal(
                    .invalidArguments, "The token of a share has at most \(ShareSavedEvent.maximumTokenBytes) bytes.",
                    rule: .requestNames)
            }
        case .modifyZones, .administer, .declareSchema, .notify: break
        }
    }

    private static func checkRoom(for subscription: Subscription) throws {
        try checkRoom(for: subscription.id)
        let bytes = subscription.predicate.utf8.count
        guard bytes <= Subscription.maximumPredicateBytes else {
            throw Refusal(
                .limitExceeded,
                "A predicate has \(bytes) bytes, more than the \(Subscription.maximumPredicateBytes) that it can have.",
                rule: .requestNames)
        }
        guard let notification = subscription.notification else { return }
        do { _ = try notification.encoded() } catch let error as StrataError {
            throw Refusal(.limitExceeded, "A notification is more than can be written: \(error)", rule: .requestNames)
        }
    }

    static func checkRoom(for name: String) throws {
        guard name.utf8.count <= Envelope.maximumNameBytes else {
            throw Refusal(
                .invalidArguments,
                "A name has \(name.utf8.count) bytes, more than the \(Envelope.maximumNameBytes) that can be written.",
                rule: .requestNames)
        }
    }

    static func checkRoom(for save: ModifyRecordsRequest.Save, _ facts: SaveFacts) throws {
        try checkRoom(for: save.record.name)
        if case .set(let target) = save.parent { try checkRoom(for: target.name) }
        if case .set(let target) = save.share { try checkRoom(for: target.name) }
        guard save.fields.count <= FieldTable.maximumCount else {
            throw tooManyKeys(save.record.name, rule: .requestNames)
        }
        guard facts.hasReferences || facts.hasSealed else { return }
        for change in save.fields {
            guard let value = change.value else { continue }
            if case .sealed(let sealed) = value, sealed.nonce.count != FieldValue.Sealed.nonceBytes {
                throw Refusal(
                    .invalidArguments, "An encrypted value's nonce has \(FieldValue.Sealed.nonceBytes) bytes.",
                    rule: .requestNames)
            }
            guard value.kind.element == .reference else { continue }
            for reference in value.references { try checkRoom(for: reference.target.name) }
        }
    }

    static func tooManyKeys(_ record: String, rule: Rule) -> Refusal {
        Refusal(.limitExceeded, "Record '\(record)' would have more than \(FieldTable.maximumCount) keys.", rule: rule)
    }
}
