import StrataModel
import StrataRules

/// Encrypted values are sealed before they enter a request, so the store judges, keeps and logs only ciphertext
/// (docs/encryption.md).
extension Store {
    /// Seals a value for a save of this record under this key and no other. In the shared database, it is sealed
    /// for the zone's owner. The store opens it for those who may read the record (B381).
    ///
    /// ```swift
    /// let pin = try store.seal(.string("1234"), for: "pin", of: id, in: DatabaseID(.private), as: anna)
    /// builder.save(id, type: "Card", fields: ["pin": pin])
    /// try store.modify(builder.request, as: anna)
    /// let opened = try store.snapshot().record(id, in: DatabaseID(.private), as: anna).opened("pin")
    /// ```
    ///
    /// The owner's first sealed value creates a key, which is durable on return.
    ///
    /// - Throws: ``Refusal`` in the public database, and for references, assets and values that are already encrypted
    ///   (B21); ``StrataError`` if the store's key file cannot be read or written.
    public func seal(
        _ value: FieldValue, for key: String, of record: RecordID, in database: DatabaseID, as actor: Actor
    ) throws -> FieldValue {
        try requireWritable()
        guard database.scope != .public else {
            throw Refusal(
                .invalidArguments, "Key '\(key)': encrypted values cannot be stored in the public database.",
                rule: .encryptedValues)
        }
        guard value.canBeSealed else {
            throw Refusal(
                .invalidArguments, "Key '\(key)': a value of kind \(value.kind) cannot be encrypted.",
                rule: .encryptedValues)
        }
        let place = SealedPlace(key, of: record, in: try newest.home(of: record.zone, in: database, as: actor))
        return .sealed(try engine.keys.seal(try value.encoded(), at: place))
    }

    /// Seals bytes that are kept outside the log for a user, so that only that user's key opens them.
    ///
    /// - Throws: ``StrataError`` if the store's key file cannot be read or written.
    package func seal(_ bytes: [UInt8], at place: SealedPlace) throws -> FieldValue.Sealed {
        try requireWritable()
        return try engine.keys.seal(bytes, at: place)
    }

    /// Returns a value of a record, decrypted if it is encrypted.
    ///
    /// - Parameter database: the record's own database, with the name of its owner.
    /// - Throws: ``StrataError`` as ``open(_:at:)``.
    package func opened(
        _ value: FieldValue, of key: String, in record: RecordID, of database: DatabaseID
    ) throws -> FieldValue {
        guard case .sealed(let sealed) = value else { return value }
        return try FieldValue(decoding: open(sealed, at: SealedPlace(key, of: record, in: database))[...])
    }

    /// Returns the bytes that were passed to ``seal(_:at:)``.
    ///
    /// - Throws: ``StrataError``: `keyMissing`, `keyDestroyed`, `sealBroken`, or the error from reading the keys.
    package func open(_ sealed: FieldValue.Sealed, at place: SealedPlace) throws -> [UInt8] {
        try gate.requireOpen()
        return try engine.keys.open(sealed, at: place)
    }
}

extension FieldValue {
    /// True if the value may be encrypted (B21).
    fileprivate var canBeSealed: Bool { ![.reference, .asset, .sealed].contains(kind.element) && kind != .sealed }
}

extension Record {
    /// Returns the value of a key, opened if it is encrypted; nil if there is none, or if it was not desired.
    ///
    /// - Throws: ``StrataError`` for an encrypted value that cannot be opened: `keyMissing`, `keyDestroyed`,
    ///   `sealBroken`.
    public func opened(_ key: String) throws -> FieldValue? {
        guard let value = try self[key] else { return nil }
        guard case .sealed(let sealed) = value else { return value }
        return try open(sealed, key)
    }

    /// Calls `body` with each desired encrypted value, opened, or with the error that prevents opening it.
    public func forEachSealedField(
        _ body: (_ key: String, _ value: Result<FieldValue, any Error>) throws -> Void
    ) throws {
        try forEachField(where: \.isSealed) { key, value in
            guard case .sealed(let sealed) = value else { return }
            try body(key, Result { try open(sealed, key) })
        }
    }

    private func open(_ sealed: FieldValue.Sealed, _ key: String) throws -> FieldValue {
        let bytes = try origin.context.keys.open(sealed, at: SealedPlace(key, of: id, in: try origin.home))
        return try FieldValue(decoding: bytes[...])
    }
}
