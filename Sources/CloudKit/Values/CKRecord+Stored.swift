import StrataModel
import StrataStore

/// What becomes of a record of which a file or an encrypted value cannot be had.
enum UnreadableValues {
    /// The record cannot be had (docs/cloudkit.md, "Encrypted values"; B145).
    case fail
    /// It is as if those keys had not been asked for: what a save made of a record is no error of that save.
    case leaveOut
}

extension CKRecord {
    /// A record as a client's device sees it. Its fields are decoded when they are asked for.
    ///
    /// - Parameters:
    ///   - isPartial: whether only some keys were fetched.
    ///   - hasAssetFiles: false for the server's record of a conflict: its assets have no `fileURL` (B64).
    ///   - progress: A closure that receives the fraction of the asset bytes read so far.
    /// - Throws: ``CKError`` `assetNotAvailable` or `internalError` for values that cannot be had.
    convenience init(
        stored record: Record, id: CKRecordID, for client: Client, isPartial: Bool = false,
        hasAssetFiles: Bool = true, unreadable: UnreadableValues = .fail, progress: (Double) -> Void = { _ in }
    ) throws {
        let id = client.canonical(id)
        var fields = RecordFields(
            .stored(record, me: client.actor.user), in: id.zoneID, isPartial: isPartial)
        if try record.mayHaveSpecialValues {
            try fields.findSpecialValues(
                of: record, client, hasAssetFiles: hasAssetFiles, unreadable, progress)
        }
        self.init(try record.type, id, fields)
    }
}

extension RecordFields {
    /// Looks up what must be there when the record is handed out: later nobody could be told of a file that is missing
    /// or of a value that does not open.
    fileprivate mutating func findSpecialValues(
        of record: Record, _ client: Client, hasAssetFiles: Bool, _ unreadable: UnreadableValues,
        _ progress: (Double) -> Void
    ) throws {
        let home = try client.opened()
        if try record.hasAssets {
            if hasAssetFiles, unreadable == .fail { try Self.requireAssets(of: record, in: home.store, progress) }
            assets = FetchedAssets(home.stagedAssets, haveFiles: hasAssetFiles)
        }
        try record.forEachSealedField { key, value in
            switch (value, unreadable) {
            case (.success(let value), _): opened[key] = value
            case (.failure, .leaveOut): isPartial = true
            case (.failure(let error), .fail): throw CKError(engine: error)
            }
        }
    }

    private static func requireAssets(
        of record: Record, in store: Store, _ progress: (Double) -> Void
    ) throws {
        var steps = ProgressSteps()
        do {
            try store.requireAssets(of: record) { fraction in
                if let step = steps.next(fraction) { progress(step) }
            }
        } catch let error as StrataError {
            throw CKError(
                .assetNotAvailable, message: "An asset of record \(record.id.name) is not available. \(error)",
                cause: error)
        }
    }
}
