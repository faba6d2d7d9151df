import StrataModel
import StrataStore

/// The handling of records with an asset file or encrypted value that cannot be read.
enum UnreadableValues {
    /// Fetching the record fails (docs/cloudkit.md, "Encrypted values"; B145).
    case fail
    /// The unreadable keys are omitted, as if not requested: a problem with the record that a save returns does not
    /// fail that save.
    case leaveOut
}

extension CKRecord {
    /// Returns a record as a client's device sees it, a share as `CKShare` (B300). Fields are decoded on first access.
    ///
    /// - Parameters:
    ///   - isPartial: True if only some keys were fetched.
    ///   - hasAssetFiles: False for the server's record of a conflict, whose assets have no `fileURL` (B64).
    ///   - progress: A closure that receives the fraction of the asset bytes read so far.
    /// - Throws: ``CKError`` `assetNotAvailable` or `internalError` if a value cannot be read.
    static func stored(
        _ record: Record, id: CKRecordID, for client: Client, isPartial: Bool = false,
        hasAssetFiles: Bool = true, unreadable: UnreadableValues = .fail, progress: (Double) -> Void = { _ in }
    ) throws -> CKRecord {
        let id = client.canonical(id)
        var fields = RecordFields(
            .stored(record, me: client.actor.user), in: id.zoneID, isPartial: isPartial)
        if try record.mayHaveSpecialValues {
            try fields.findSpecialValues(
                of: record, client, hasAssetFiles: hasAssetFiles, unreadable, progress)
        }
        let type = try record.type
        guard type == SystemType.share else { return CKRecord(type, id, fields) }
        let sharing = try record.shareState.map { try ShareFields($0, for: client) }
        return CKShare(id, fields, sharing ?? ShareFields(root: nil))
    }
}

extension RecordFields {
    /// Reads asset files and encrypted values before the record is returned: later there is no way to report a missing
    /// file or a value that cannot be decrypted.
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
        } catch let error as StrataError where error.code == .unreachable {
            throw CKError(engine: error)
        } catch let error as StrataError {
            throw CKError(
                .assetNotAvailable, message: "An asset of record \(record.id.name) is not available. \(error)",
                cause: error)
        }
    }
}
