import StrataModel

/// The row of a zone (docs/format-keys.md §4).
package struct ZoneRow: Sendable, Hashable {
    package enum Status: UInt8, Sendable, CaseIterable {
        case alive = 1, deleted, purged, encryptedDataReset

        init(after reason: ZoneDeletedEvent.Reason) {
            switch reason {
            case .deleted: self = .deleted
            case .purged: self = .purged
            case .encryptedDataReset: self = .encryptedDataReset
            }
        }

        /// The reason why the zone was deleted; nil if it exists.
        var deletionReason: ZoneDeletedEvent.Reason? {
            switch self {
            case .alive: nil
            case .deleted: .deleted
            case .purged: .purged
            case .encryptedDataReset: .encryptedDataReset
            }
        }
    }

    package var status: Status
    package var version: Version
    package var incarnation: Version
    package var lastChanged: UInt64
    package var capabilities: ZoneCapabilities = []
    package var encryptionScope: EncryptionScope = .record
    package var recordCount: UInt64 = 0
    /// The number of its records that refer to other zones.
    package var outwardCount: UInt64 = 0
    /// The bytes that its records count for their user's quota.
    package var usedBytes: UInt64 = 0
    /// The sums of the digests of its records.
    package var recordDigests = Digests()
    package var ownDigests = Digests()

    init(status: Status, version: Version, incarnation: Version, lastChanged: UInt64) {
        self.status = status
        self.version = version
        self.incarnation = incarnation
        self.lastChanged = lastChanged
    }

    func encode(into writer: inout ByteWriter) {
        writer.append(status.rawValue)
        writer.append(version.packed)
        writer.append(incarnation.packed)
        writer.append(lastChanged)
        writer.appendVarint(capabilities.rawValue)
        writer.append(encryptionScope.rawValue)
        writer.appendVarint(recordCount)
        writer.appendVarint(outwardCount)
        writer.appendVarint(usedBytes)
        for digests in [recordDigests, ownDigests] {
            writer.append(digests.state)
            writer.append(digests.content)
        }
    }

    /// Decodes the status, with which a row begins.
    static func status(decoding bytes: UnsafeRawBufferPointer) throws -> Status {
        guard let first = bytes.first, let status = Status(rawValue: first) else {
            throw ByteReader(bytes).malformed(
                "a zone's status", expected: "1 to 4", found: bytes.first.map { "\($0)" } ?? "nothing")
        }
        return status
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws {
        status = try Self.status(decoding: bytes)
        var reader = ByteReader(bytes, at: 1)
        version = try reader.readPackedVersion("a zone's version")
        incarnation = try reader.readPackedVersion("a zone's incarnation")
        lastChanged = try reader.read(UInt64.self, "a zone's last change")
        capabilities = ZoneCapabilities(rawValue: try reader.readVarint("a zone's capabilities"))
        let scope = try reader.read(UInt8.self, "an encryption scope")
        guard let scope = EncryptionScope(rawValue: scope) else {
            throw reader.malformed("an encryption scope", expected: "0 or 1", found: "\(scope)")
        }
        encryptionScope = scope
        recordCount = try reader.readVarint("a zone's records")
        outwardCount = try reader.readVarint("a zone's records that refer to others")
        usedBytes = try reader.readVarint("a zone's bytes")
        recordDigests = try reader.readDigests()
        ownDigests = try reader.readDigests()
        try reader.expectEnd("a zone's row")
    }
}

extension ByteReader {
    mutating func readPackedVersion(_ what: StaticString) throws -> Version {
        let packed = try read(UInt64.self, what)
        guard packed >> 63 == 0 else { throw malformed(what, expected: "63 bits") }
        return Version(packed: packed)
    }

    mutating func readDigests() throws -> Digests {
        Digests(state: try read(UInt128.self, "a digest"), content: try read(UInt128.self, "a digest"))
    }
}
