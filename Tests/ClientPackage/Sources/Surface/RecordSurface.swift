import CloudKit

/// The surface of records and zones.
struct RecordSurface: Section {
    private let id = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Notes"))

    @available(*, deprecated)
    func check() async throws {
        try record()
        try fields()
        try keyValueCoding()
        try identity()
        try deprecated()
        try zone()
        try others()
    }

    // CKRecord.
    func record() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        try expect(CKRecord(recordType: "Note").recordID.zoneID == .default)
        gives(record, \.recordType, CKRecord.RecordType.self)
        gives(record, \.recordID, CKRecord.ID.self)
        gives(record, \.recordChangeTag, String?.self)
        gives(record, \.creatorUserRecordID, CKRecord.ID?.self)
        gives(record, \.creationDate, Date?.self)
        gives(record, \.lastModifiedUserRecordID, CKRecord.ID?.self)
        gives(record, \.modificationDate, Date?.self)
        gives(record, \.share, CKRecord.Reference?.self)
        keeps(record, \.parent, CKRecord.Reference?.self)
        let _: (CKRecord?) -> Void = record.setParent
        let _: (CKRecord.ID?) -> Void = record.setParent
        record.setParent(nil as CKRecord?)
        let _: (NSCoder) -> Void = record.encodeSystemFields(with:)
        let _: (NSCoder) -> CKRecord? = CKRecord.init(coder:)
        let _: String = CKRecord.SystemType.userRecord + CKRecord.SystemType.share
        let _: [CKRecord.FieldKey] = [
            CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.creatorUserRecordID,
            CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
            CKRecord.SystemFieldKey.modificationDate, CKRecord.SystemFieldKey.parent, CKRecord.SystemFieldKey.share,
        ]
        let _: [CKRecord.ReferenceAction] = [.none, .deleteSelf]
        try expect(CKRecord.ReferenceAction(rawValue: 1 as UInt) == .deleteSelf)
    }

    // Fields of a record.
    func fields() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        let _: (CKRecord.FieldKey) -> (any __CKRecordObjCValue)? = record.object(forKey:)
        let _: ((any __CKRecordObjCValue)?, CKRecord.FieldKey) -> Void = record.setObject(_:forKey:)
        record.setObject("1" as CKRecordValue, forKey: "object")
        record["any"] = "2"
        record["typed"] = 3
        let objectValue: (any __CKRecordObjCValue)? = record["any"]
        let value: (any CKRecordValueProtocol)? = record["any"]
        let typed: Int? = record["typed"]
        try expect(objectValue is String && value is String && typed == 3)
        record["any"] = objectValue
        record["any"] = value
        let _: () -> [CKRecord.FieldKey] = record.allKeys
        let _: () -> [CKRecord.FieldKey] = record.changedKeys
        let _: () -> [String] = record.allTokens
        let encrypted: any CKRecordKeyValueSetting & Sendable = record.encryptedValues
        encrypted["secret"] = "4"
        let secret: String? = encrypted["secret"]
        try expect(secret == "4" && encrypted.allKeys() == ["secret"] && encrypted.changedKeys() == ["secret"])
        var iterator: CKRecordKeyValueIterator = record.makeIterator()
        let first: (CKRecord.FieldKey, any CKRecordValueProtocol)? = iterator.next()
        try expect(first?.0 == "any")
        try expect(record.map { key, _ in key } == ["any", "object", "typed"])
    }

    // CKRecord.ID, CKRecord.Reference.
    func identity() throws {
        _ = CKRecord.ID()
        _ = CKRecord.ID(recordName: "a")
        _ = CKRecord.ID(zoneID: id.zoneID)
        gives(id, \.recordName, String.self)
        gives(id, \.zoneID, CKRecordZone.ID.self)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        gives(reference, \.recordID, CKRecord.ID.self)
        gives(reference, \.action, CKRecord.ReferenceAction.self)
        try expect(
            CKRecord.Reference(record: CKRecord(recordType: "Note", recordID: id), action: .deleteSelf) == reference)
    }

    // Deprecated members.
    @available(*, deprecated)
    func deprecated() throws {
        try expect(CKRecord(recordType: "Note", zoneID: id.zoneID).recordID.zoneID == id.zoneID)
        let _: CKRecord.Reference.Action = CKRecord_Reference_Action.none
        let owner: String? = nil
        try expect(CKRecordZone.ID(zoneName: "a", ownerName: owner).ownerName == CKOwnerDefaultName)
    }

    // CKRecordZone, CKRecordZone.ID.
    func zone() throws {
        let zone = CKRecordZone(zoneID: id.zoneID)
        _ = CKRecordZone(zoneName: "Notes")
        _ = CKRecordZone.default()
        gives(zone, \.zoneID, CKRecordZone.ID.self)
        gives(zone, \.capabilities, CKRecordZone.Capabilities.self)
        gives(zone, \.share, CKRecord.Reference?.self)
        keeps(zone, \.encryptionScope, CKRecordZone.EncryptionScope.self)
        try expect(
            CKRecordZone.EncryptionScope.perRecord.rawValue == 0 && CKRecordZone.EncryptionScope.perZone.rawValue == 1)
        let all: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        try expect(all == CKRecordZone.Capabilities(rawValue: 15 as UInt))
        _ = CKRecordZone.ID()
        _ = CKRecordZone.ID(zoneName: "Notes")
        _ = CKRecordZone.ID(ownerName: "anna")
        gives(zone.zoneID, \.zoneName, String.self)
        gives(zone.zoneID, \.ownerName, String.self)
        try expect(CKRecordZone.ID.default.zoneName == CKRecordZone.ID.defaultZoneName)
    }

    // CKAsset, CKServerChangeToken, CLLocation.
    func others() throws {
        gives(CKAsset(fileURL: URL(fileURLWithPath: "/a")), \.fileURL, URL?.self)
        let _: (NSCoder) -> CKServerChangeToken? = CKServerChangeToken.init(coder:)
        let place = CLLocation(latitude: 1, longitude: 2)
        gives(place, \.coordinate, CLLocationCoordinate2D.self)
        gives(place, \.altitude, CLLocationDistance.self)
        gives(place, \.horizontalAccuracy, CLLocationAccuracy.self)
        gives(place, \.verticalAccuracy, CLLocationAccuracy.self)
        gives(place, \.course, CLLocationDirection.self)
        gives(place, \.speed, CLLocationSpeed.self)
        gives(place, \.timestamp, Date.self)
        let _: (CLLocation) -> CLLocationDistance = place.distance(from:)
        let coordinate = CLLocationCoordinate2D(latitude: 1 as CLLocationDegrees, longitude: 2)
        try expect(
            CLLocationCoordinate2DIsValid(coordinate) && !CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
        _ = CLLocationCoordinate2DMake(1, 2)
        _ = CLLocation(
            coordinate: coordinate, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, timestamp: Date())
        _ = CLLocation(
            coordinate: coordinate, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
            timestamp: Date())
    }

    // The spellings of key-value coding.
    func keyValueCoding() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        record.setValue("a", forKey: "title")
        try expect(record.value(forKey: "title") as? String == "a")
        let settings: any CKRecordKeyValueSetting = record
        settings.setObject("b" as CKRecordValue, forKey: "object")
        let object: (any __CKRecordObjCValue)? = settings.object(forKey: "object")
        settings["any"] = object
        let plain: (any CKRecordValueProtocol)? = settings["object"]
        settings["typed"] = plain as? String
        let _: (any __CKRecordObjCValue)? = settings["any"]
        try expect(settings.allKeys() == settings.changedKeys())
    }
}
