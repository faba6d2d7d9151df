import StrataModel
import StrataStore

/// Seals the archives of long-lived operations on disk if their records have encrypted values.
extension LongLivedOperation {
    private static func place(_ id: CKOperation.ID, _ user: String) -> SealedPlace {
        SealedPlace(document: "operation \(id)", of: user)
    }

    /// - Parameter isSecret: True if the archive contains encrypted values.
    static func properties(
        _ archive: [UInt8], isSecret: Bool, of id: CKOperation.ID, for client: Client, in store: Store
    ) throws -> Properties {
        guard isSecret else { return .plain(archive) }
        return .sealed(try store.seal(archive, at: place(id, client.actor.user)))
    }

    /// - Throws: `StrataError` if the properties cannot be opened.
    func archive(in store: Store) throws -> OperationArchive {
        switch properties {
        case .plain(let bytes): try OperationArchive(decoding: bytes)
        case .sealed(let sealed):
            try OperationArchive(decoding: try store.open(sealed, at: Self.place(id, user)))
        }
    }
}

extension OperationArchive {
    /// True if one of the records has encrypted values.
    var holdsEncryptedValues: Bool {
        records?.contains { record in record.withFields { $0.holdsEncryptedValues } } ?? false
    }
}

extension RecordFields {
    /// True if there are encrypted values, including fetched ones that were edited since: an archive contains them too.
    fileprivate var holdsEncryptedValues: Bool {
        edits.contains { $0.edit.isEncrypted && $0.edit.content != nil } || !originals(isEncrypted: true).isEmpty
    }
}
