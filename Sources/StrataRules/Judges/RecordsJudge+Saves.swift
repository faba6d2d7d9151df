import StrataModel
import StrataViews

/// Judges each save on its own (docs/rules.md §5).
extension RecordsJudge {
    /// - Throws: ``Refusal`` if the save fails.
    func judgeSave(_ index: Int) throws {
        let save = body.saves[index]
        let zoneIndex = saves[index].zoneIndex
        if let refusal = resolved.zones[zoneIndex].refusal { throw refusal }
        let isOwnUserRecord = try isOwnUserRecord(save.record.name, zoneIndex)
        var stored = saves[index].found
        let isStored = stored != nil
        let right = try resolved.scope == .shared ? rightToSave(save, &stored, zoneIndex) : nil
        saves[index].stored = stored
        let type = schemaBindings.types[Int(save.type) - 1]
        try checkNames(save, type, stored: stored, isOwnUserRecord: isOwnUserRecord)
        try checkIsDeclared(type)
        try checkType(type, of: save, stored, isOwnUserRecord)
        if type.isShare || save.sharing != nil { try checkShare(save, type, isStored: stored != nil, zoneIndex) }
        let action: Action = stored == nil ? .create : .change
        let creator = stored?.header.createdBy
        guard
            try actor.principal.may(
                action, creator: creator, isUserRecord: type.isUsers, grants: view.grants(of: type.ordinal),
                in: resolved.scope, right: right)
        else {
            if resolved.scope == .shared { throw Refusal.notWritable(save.record.name) }
            throw Refusal(
                .permissionFailure,
                stored == nil
                    ? "CREATE operation not permitted: the schema does not let you create records of type \(type.name)."
                    : "WRITE operation not permitted: only the creator of record '\(save.record.name)', or a user to "
                        + "whom the schema grants WRITE, may change it.", rule: type.isUsers ? .userRecords : .grants)
        }
        try checkVersion(save, stored)
        if type.isShare { try judgeShare(index) }
        if judging.context.isTraced {
            traceVersion(index, stored)
            if !type.isUsers { try traceGrant("save \(index)", action, creator: creator, type: type.ordinal) }
        }
        saves[index].fields = try fittedFields(save)
        let typeIndex = Int(save.type) - 1
        if schemaBindings.types[typeIndex].hasNewKeys { try checkSchemaRoom(saves[index].fields, of: typeIndex) }
        try checkLinks(save, zoneIndex, saves[index].facts, isShare: type.isShare)
        try checkSize(save, saves[index])
        try checkQuota(index)
        if schemaBindings.types[typeIndex].hasNewKeys { schemaBindings.bind(saves[index].fields, of: typeIndex) }
        if isStored, stored == nil { throw Refusal.notShared(save.record.name) }
    }

    func storedRecord(_ name: String, _ zoneIndex: Int) throws -> StoredRecord? {
        let zone = resolved.zones[zoneIndex].ordinal
        return zone == 0 ? nil : try view.record(RecordKey(zone: zone, name: name))
    }

    private func checkNames(
        _ save: ModifyRecordsRequest.Save, _ type: TypeState, stored: StoredRecord?, isOwnUserRecord: Bool
    ) throws {
        guard type.isValid else {
            throw Refusal(
                .invalidArguments,
                "'\(type.name)' is not a valid record type name: use a letter followed by letters, digits, or "
                    + "underscores.",
                rule: .recordTypes)
        }
        guard !type.isUsers || isOwnUserRecord || stored?.header.type == type.ordinal else {
            throw Refusal(
                .permissionFailure, "Records of type \(UserRecord.type) are made by the system.", rule: .userRecords)
        }
        if schemaBindings.areKeysValid { return }
        for change in save.fields where !schemaBindings.keys[Int(change.field) - 1].isValid {
            if type.isShare, schemaBindings.keys[Int(change.field) - 1].isOfShares { continue }
            throw Refusal(
                .invalidArguments,
                "'\(key(change.field))' is not a valid key: use a letter followed by letters, digits, or underscores.",
                rule: .keys)
        }
    }

    /// The service's wording: "Cannot create new type FavoriteTable in production schema".
    private func checkIsDeclared(_ type: TypeState) throws {
        guard judging.schema == .open || type.ordinal != 0 || type.isUsers || type.isShare else {
            throw Refusal(
                .invalidArguments, "Cannot create new type \(type.name) in production schema", rule: .enforcedSchema)
        }
    }

    private func checkType(
        _ type: TypeState, of save: ModifyRecordsRequest.Save, _ stored: StoredRecord?, _ isOwnUserRecord: Bool
    ) throws {
        if let stored {
            guard stored.header.type == type.ordinal else {
                let name = try view.fold.fork.text(.recordType, stored.header.type)
                throw Refusal(
                    .invalidArguments,
                    "Record '\(save.record.name)' is of type \(name), and was saved as one of type \(type.name).",
                    rule: .recordTypes)
            }
            return
        }
        let name = save.record.name
        if isOwnUserRecord {
            guard type.isUsers else {
                throw Refusal(
                    .invalidArguments, "The record of a user is of type \(UserRecord.type), not \(type.name).",
                    rule: .recordTypes)
            }
            return
        }
        guard NameRules.isName(name), name.utf8.first != UInt8(ascii: "_") else {
            throw Refusal(
                .invalidArguments,
                "A record name has 1 to 255 characters, no control characters, and no underscore in front: '\(name)'.",
                rule: .recordNames)
        }
    }

    private func checkVersion(_ save: ModifyRecordsRequest.Save, _ stored: StoredRecord?) throws {
        guard policy(of: save) == .ifServerRecordUnchanged else { return }
        let known = stored?.header.version
        if save.base == known { return }
        guard let known else {
            throw Refusal(
                .unknownItem, "recordChangeTag specified, but record not found: \(save.record.name)",
                rule: .tagOfMissingRecord,
                baseVersion: save.base)
        }
        let message = save.base == nil ? "record to insert already exists" : "client oplock error updating record"
        throw Refusal(
            .serverRecordChanged, "\(message): \(save.record.name)",
            rule: body.policy != .ifServerRecordUnchanged
                ? .currentShareTag : save.base == nil ? .newRecordOnly : .staleTag,
            serverVersion: known, baseVersion: save.base)
    }

    /// Traces the reason why a save that did not fail satisfies its policy.
    private func traceVersion(_ index: Int, _ stored: StoredRecord?) {
        let tag = stored?.header.version.tag
        switch (policy(of: body.saves[index]), tag) {
        case (.ifServerRecordUnchanged, nil): break
        case (.ifServerRecordUnchanged, let tag?): trace?.add(.currentTag, "save \(index)", "\(tag) is the stored tag")
        case (_, nil): trace?.add(.savesWithoutRecord, "save \(index)", "there is no such record yet")
        case (let policy, let tag?):
            let base = body.saves[index].base?.tag ?? "none"
            trace?.add(
                policy == .allKeys ? .allKeysPolicy : .changedKeysPolicy, "save \(index)",
                "\(tag) is the stored tag, not compared with \(base)")
        }
    }

    /// Traces the grant that permits an item of the public database.
    func traceGrant(_ item: String, _ action: Action, creator: UInt64?, type: UInt64) throws {
        guard resolved.scope == .public,
            let grant = actor.principal.decisiveGrant(action, creator: creator, grants: try view.grants(of: type))
        else { return }
        trace?.add(.grants, item, "\(action.permission.schemaNames) is granted to \(grant.role)")
    }

    // MARK: Values

    private func fittedFields(_ save: ModifyRecordsRequest.Save) throws -> [FieldChange] {
        var fields = save.fields
        for index in fields.indices {
            guard let kind = save.fields[index].kind else { continue }
            if resolved.scope == .public, kind == .sealed {
                throw Refusal(
                    .invalidArguments,
                    "Key '\(key(fields[index].field))': encrypted values cannot be kept in the public database.",
                    rule: .encryptedValues)
            }
            guard let binding = try schemaBindings.binding(of: fields[index].field, in: Int(save.type) - 1, view) else {
                // The service's wording, which apps may know.
                guard judging.schema == .open || schemaBindings.types[Int(save.type) - 1].isShare else {
                    throw Refusal(
                        .invalidArguments,
                        """
                        Cannot create or modify field '\(key(fields[index].field))' in record \
                        '\(schemaBindings.types[Int(save.type) - 1].name)' in production schema
                        """, rule: .enforcedSchema)
                }
                // Nothing to check: the elements of a list have one kind, and the key is bound after the other checks.
                continue
            }
            // Without a write, the array still shares its storage with the request.
            if binding.takes(kind) { continue }
            guard let value = fields[index].value, let fitted = binding.fitted(value) else {
                let given = fields[index].value.flatMap { Binding($0) }?.description ?? "an empty list"
                throw Refusal(
                    .invalidArguments,
                    """
                    Key '\(key(fields[index].field))' of type \(schemaBindings.types[Int(save.type) - 1].name) is \
                    \(binding.description), and was given \(given).
                    """, rule: .boundKinds)
            }
            fields[index].value = fitted
        }
        return fields
    }

    func key(_ ordinal: UInt32) -> String { judging.request.names.key(ordinal) ?? "" }

    /// - Throws: ``Refusal`` if the type has no room for more keys.
    private func checkSchemaRoom(_ fields: [FieldChange], of typeIndex: Int) throws {
        let type = schemaBindings.types[typeIndex]
        let unbound = fields.count { change in
            if change.value != nil, case .none = type.bindings[change.field] { true } else { false }
        }
        if unbound == 0 { return }
        let stored = type.ordinal == 0 ? 0 : try view.schema(of: type.ordinal).count
        guard stored + type.newlyBoundCount + unbound <= FieldTable.maximumCount else {
            throw Refusal(
                .limitExceeded,
                "Type \(type.name) would have more than \(FieldTable.maximumCount) keys.", rule: .keysOfType)
        }
    }

    // MARK: References

    private func checkLinks(
        _ save: ModifyRecordsRequest.Save, _ zoneIndex: Int, _ facts: SaveFacts, isShare: Bool
    ) throws {
        for change in facts.hasReferences ? save.fields : [] {
            guard let value = change.value else { continue }
            for reference in value.references {
                try checkTarget(reference.target, zoneIndex, "Key '\(key(change.field))'")
                guard reference.action == .deleteSelf, isShare else { continue }
                throw Refusal(
                    .invalidArguments,
                    "Key '\(key(change.field))': the record of a share cannot refer to a record with deleteSelf, "
                        + "since the share would end with that record.", rule: .shareReferences)
            }
        }
        if case .set(let target) = save.parent { try checkTarget(target, zoneIndex, "The parent") }
        if case .set(let target) = save.share { try checkTarget(target, zoneIndex, "The share") }
    }

    private func checkTarget(_ target: RecordKey, _ zoneIndex: Int, _ what: @autoclosure () -> String) throws {
        guard try resolved.zoneIndex(of: target.zone) == zoneIndex else {
            throw Refusal(
                .invalidArguments, "\(what()) refers to a record of another zone: '\(target.name)'.",
                rule: .referencesWithinZone)
        }
        guard NameRules.isLength(target.name) else {
            throw Refusal(
                .invalidArguments, "\(what()) refers to a record whose name is not 1 to 255 characters long.",
                rule: .referenceNames)
        }
    }

    // MARK: Size

    private func checkSize(_ save: ModifyRecordsRequest.Save, _ state: SaveState) throws {
        var size = sentBytes(state)
        if let stored = state.stored {
            try checkKeyCount(stored, save)
            size += try keptBytes(stored, save, room: judging.limits.recordBytes - size)
        }
        guard size <= judging.limits.recordBytes else {
            throw Refusal(
                .limitExceeded,
                """
                Record '\(save.record.name)' would have \(size) bytes, more than the maximum of \
                \(judging.limits.recordBytes).
                """, rule: .byteLimit)
        }
    }

    private func checkKeyCount(_ stored: StoredRecord, _ save: ModifyRecordsRequest.Save) throws {
        try stored.bytes.withUnsafeBytes { bytes in
            let table = try RecordStateView(bytes, in: 0..<bytes.count).fields()
            if table.count + save.fields.count <= FieldTable.maximumCount { return }
            var keys = Set((0..<table.count).map { UInt64(table.ordinal(at: $0)) })
            var newCount = 0
            for change in save.fields {
                if let field = try view.ordinal(of: .field(key(change.field))) {
                    if change.value == nil { keys.remove(field) } else { keys.insert(field) }
                } else if change.value != nil {
                    newCount += 1
                }
            }
            if keys.count + newCount > FieldTable.maximumCount {
                throw Judging.tooManyKeys(save.record.name, rule: .recordLimits)
            }
        }
    }

    /// The size of the stored fields that were not sent; 0 if they certainly fit in `room`.
    private func keptBytes(_ stored: StoredRecord, _ save: ModifyRecordsRequest.Save, room: Int) throws -> Int {
        try stored.bytes.withUnsafeBytes { bytes in
            let table = try RecordStateView(bytes, in: 0..<bytes.count).fields()
            // A stored byte counts as at most eight (a number may be stored in one byte), plus the key.
            if bytes.count * 8 + table.count * NameRules.maximumCharacters <= room { return 0 }
            let sent = try sentFields(save)
            var size = 0
            for index in 0..<table.count where !sent.contains(UInt64(table.ordinal(at: index))) {
                let value = try FieldValue(decoding: bytes, in: try table.range(at: index))
                size += try view.keyBytes(table.ordinal(at: index)) + value.chargedBytes
            }
            return size
        }
    }
}
