import StrataModel
import StrataStore

/// Operations that outlive the process lie on disk; their records' encrypted values must not lie there in the clear.
extension LongLivedOperation {
    private static func place(_ id: CKOperation.ID, _ user: String) -> SealedPlace {
        SealedPlace(document: "operation \(id)", of: user)
    }

    /// - Parameter isSecret: whether the archive has encrypted values.
    static func properties(
        _ archive: [UInt8], isSecret: Bool, of id: CKOperation.ID, for client: Client, in store: Store
    ) throws -> Properties {
        guard isSecret else { return .plain(archive) }
        return .sealed(try store.seal(archive, at: place(id, client.actor.user)))
    }

    /// - Throws: `StrataError` for properties that do not open.
    func archive(in store: Store) throws -> OperationArchive {
        switch properties {
        case .plain(let bytes): try OperationArchive(decoding: bytes)
        case .sealed(let sealed):
            try OperationArchive(decoding: try store.open(sealed, at: Self.place(id, user)))
        }
    }
}

extension OperationArchive {
    /// Whether one of the records has encrypted values.
    var holdsEncryptedValues: Bool {
        records?.contains { record in record.state.withLock { $0.holdsEncryptedValues } } ?? false
    }
}

extension RecordFields {
    /// Those that were fetched count, whatever became of them: an archive has them too.
    fileprivate var holdsEncryptedValues: Bool {
        edits.contains { $0.edit.isEncrypted && $0.edit.content != nil } || !originals(isEncrypted: true).isEmpty
    }
}
