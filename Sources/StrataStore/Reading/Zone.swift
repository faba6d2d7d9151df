import StrataModel
import StrataViews

/// A zone as clients see it.
public struct Zone: Sendable, Hashable {
    /// Its owner is empty: the database's own, however it was asked for.
    public let id: ZoneID
    public let version: Version
    public let capabilities: ZoneCapabilities
    public let encryptionScope: EncryptionScope
    public let recordCount: UInt64

    init(_ id: ZoneID, _ row: ZoneRow) {
        self.id = id
        version = row.version
        capabilities = row.capabilities
        encryptionScope = row.encryptionScope
        recordCount = row.recordCount
    }

    /// It is there before anybody has written to it (B30).
    static let unwrittenDefault = Zone()

    private init() {
        id = .default
        version = Version(offset: 0, eventIndex: 0)
        capabilities = []
        encryptionScope = .record
        recordCount = 0
    }
}
