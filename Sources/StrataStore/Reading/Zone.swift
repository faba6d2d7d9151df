import StrataModel
import StrataViews

/// A zone as clients see it.
public struct Zone: Sendable, Hashable {
    /// The ID of the zone. Its owner is empty, for the owner of the database, however the zone was requested.
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

    /// The default zone before it is first written to (B30).
    static let unwrittenDefault = Zone()

    private init() {
        id = .default
        version = Version(offset: 0, eventIndex: 0)
        capabilities = []
        encryptionScope = .record
        recordCount = 0
    }
}
