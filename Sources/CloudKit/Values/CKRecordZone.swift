import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// A part of a database that is fetched, shared and changed as a whole.
///
/// ```swift
/// let zone = CKRecordZone(zoneName: "Notes")
/// try await database.save(zone)
/// ```
///
/// Two zones are equal if they are the same object; compare their ``zoneID``.
// @unchecked: the lock protects all mutable state.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// Identifies a zone.
    public typealias ID = CKRecordZoneID

    /// The ID of the zone.
    public let zoneID: CKRecordZoneID
    /// The capabilities that the store gives the zone: none until the zone is saved and fetched (B33).
    public let capabilities: Capabilities
    /// The share of the whole zone, if it was fetched and has one.
    public let share: CKReference?
    private let scope: Lock<EncryptionScope>

    /// Returns the zone that every private and public database has.
    public class func `default`() -> CKRecordZone { CKRecordZone(zoneID: .default) }

    /// Creates a zone of the current user, to be saved.
    public convenience init(zoneName: String) { self.init(zoneID: CKRecordZoneID(zoneName: zoneName)) }

    /// Creates a zone, to be saved.
    public convenience init(zoneID: CKRecordZoneID) {
        self.init(zoneID, capabilities: [], share: nil, scope: .perRecord)
    }

    /// Creates a zone from its stored form.
    convenience init(stored zone: Zone) {
        let id = CKRecordZoneID(zone.id)
        let share = zone.share.map { CKReference(recordID: CKRecordID(recordName: $0, zoneID: id), action: .none) }
        self.init(
            id, capabilities: Capabilities(rawValue: UInt(zone.capabilities.rawValue)), share: share,
            scope: zone.encryptionScope == .zone ? .perZone : .perRecord)
    }

    private init(_ id: CKRecordZoneID, capabilities: Capabilities, share: CKReference?, scope: EncryptionScope) {
        zoneID = id
        self.capabilities = capabilities
        self.share = share
        self.scope = Lock(scope)
        super.init()
    }

    /// The unit that has its own encryption key; fixed when the zone is first saved (B39).
    public var encryptionScope: EncryptionScope {
        get { scope.withLock { $0 } }
        set { scope.withLock { $0 = newValue } }
    }

    /// The operations that the store allows in a zone.
    public struct Capabilities: OptionSet, Sendable, Hashable, BitwiseCopyable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The changes of the zone can be fetched.
        public static let fetchChanges = Self(rawValue: 1)
        /// Records of the zone can be changed together, or not at all.
        public static let atomic = Self(rawValue: 2)
        /// Records of the zone can be shared.
        public static let sharing = Self(rawValue: 4)
        /// The zone can be shared as a whole.
        public static let zoneWideSharing = Self(rawValue: 8)
    }

    /// The unit that has its own encryption key.
    public enum EncryptionScope: Int, Sendable, BitwiseCopyable {
        /// Each record has its own key.
        case perRecord = 0
        /// The zone has one key.
        case perZone = 1
    }

    public override var description: String {
        "<CKRecordZone: \(zoneID.zoneName):\(zoneID.ownerName), capabilities \(capabilities.rawValue)>"
    }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any {
        CKRecordZone(zoneID, capabilities: capabilities, share: share, scope: encryptionScope)
    }

    private static let block = "CKRecordZone"

    public func encode(with coder: NSCoder) {
        ArchiveBlock.write(Self.block, to: coder) { writer in
            writer.append(zoneID)
            writer.appendVarint(UInt64(capabilities.rawValue))
            writer.appendVarint(UInt64(encryptionScope.rawValue))
            writer.append(optional: share) { $1.append($0) }
        }
    }

    public init?(coder: NSCoder) {
        let kept = ArchiveBlock.read(Self.block, from: coder) { reader in
            let id = try reader.readZoneID()
            let capabilities = Capabilities(rawValue: UInt(try reader.readVarint("a zone's capabilities")))
            let scope = try reader.readVarint("an encryption scope", atMost: 1)
            return (
                id, capabilities, EncryptionScope(rawValue: Int(scope)),
                try reader.readOptional { try $0.readReference() }
            )
        }
        if let (id, capabilities, scope, share) = kept {
            zoneID = id
            self.capabilities = capabilities
            self.scope = Lock(scope ?? .perRecord)
            self.share = share
        } else {
            let archive = ArchiveReader(coder)
            guard let id = archive.object(CKRecordZoneID.self, "ZoneID"), archive.isIntact else { return nil }
            zoneID = id
            capabilities = []
            scope = Lock(.perRecord)
            share = nil
        }
        super.init()
    }
}
