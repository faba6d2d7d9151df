import CloudKit

/// Checks the conformances that clients rely on.
struct ConformanceSurface: Section {
    @available(*, deprecated)
    func check() throws {
        let _: [any (NSSecureCoding & NSCopying & Sendable).Type] = [
            CKRecord.self, CKRecord.ID.self, CKRecord.Reference.self, CKRecordZone.self, CKRecordZone.ID.self,
            CKQuery.self, CKQueryOperation.Cursor.self, CKServerChangeToken.self, CKSubscription.self,
            CKQuerySubscription.self, CKRecordZoneSubscription.self, CKDatabaseSubscription.self,
            CKSubscription.NotificationInfo.self, CKNotification.ID.self,
            CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, CLLocation.self,
        ]
        let _: [any (NSObjectProtocol & Sendable).Type] = [
            CKContainer.self, CKDatabase.self, CKAsset.self, CKOperation.Configuration.self, CKOperation.self,
            CKDatabaseOperation.self, CKOperationGroup.self, CKNotification.self, CKQueryNotification.self,
            CKRecordZoneNotification.self, CKDatabaseNotification.self, CKModifyRecordsOperation.self,
            CKModifyRecordZonesOperation.self, CKModifySubscriptionsOperation.self, CKFetchRecordsOperation.self,
            CKFetchRecordZonesOperation.self, CKFetchSubscriptionsOperation.self, CKQueryOperation.self,
            CKFetchDatabaseChangesOperation.self, CKFetchRecordZoneChangesOperation.self,
        ]
        let _: [any (Hashable & Sendable).Type] = [
            CKAccountStatus.self, CKError.self, CKError.Code.self, CKDatabase.Scope.self,
            CKDatabase.DatabaseChange.Modification.self, CKDatabase.DatabaseChange.Deletion.self,
            CKDatabase.DatabaseChange.Deletion.Reason.self, CKDatabase.RecordZoneChange.Modification.self,
            CKDatabase.RecordZoneChange.Deletion.self, CKRecord.ReferenceAction.self,
        ]
        let _: [any OptionSet.Type] = [CKQuerySubscription.Options.self, CKRecordZone.Capabilities.self]
        let _: [any Error.Type] = [CKError.self]
        let _: [any CustomNSError.Type] = [CKError.self]
        let _: any (NSSecureCoding & NSCopying).Type = CKLocationSortDescriptor.self
        let _: any NSSecureCoding.Type = CKOperationGroup.self
        let _: any CKRecordKeyValueSetting.Type = CKRecord.self
        let _: any Sequence.Type = CKRecord.self
        let _: any IteratorProtocol.Type = CKRecordKeyValueIterator.self
        try values()
        try names()
        try deprecatedNames()
        makers()
        try rawValues()
    }

    private func values() throws {
        let _: [any CKRecordValueProtocol.Type] = [
            String.self, Date.self, Data.self, Bool.self, Double.self, Float.self, Int.self, Int8.self, Int16.self,
            Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, [String].self,
            NSString.self, NSDate.self, NSData.self, NSNumber.self, NSArray.self, CKRecord.Reference.self,
            CKAsset.self, CLLocation.self,
        ]
        let _: [any CKRecordValue.Type] = [
            NSString.self, NSNumber.self, NSArray.self, NSDate.self, NSData.self, CKRecord.Reference.self,
            CKAsset.self, CLLocation.self,
        ]
        let data = try NSKeyedArchiver.archivedData(withRootObject: CKRecord.ID(), requiringSecureCoding: true)
        // A statically linked Foundation, as in tools/demo, archives nothing.
        guard !data.isEmpty else { return }
        let id = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: data)
        try expect(id?.zoneID == .default)
    }

    /// The names of Objective-C, which the messages of an archive have.
    private func names() throws {
        try expect(CKRecordID.self == CKRecord.ID.self && CKRecordZoneID.self == CKRecordZone.ID.self)
        try expect(CKReference.self == CKRecord.Reference.self && CKQueryCursor.self == CKQueryOperation.Cursor.self)
        try expect(CKNotificationID.self == CKNotification.ID.self)
        try expect(CKNotificationInfo.self == CKSubscription.NotificationInfo.self)
        typealias Changes = CKFetchRecordZoneChangesOperation
        try expect(CKFetchRecordZoneChangesConfiguration.self == Changes.ZoneConfiguration.self)
    }

    @available(*, deprecated)
    private func deprecatedNames() throws {
        try expect(CKFetchRecordZoneChangesOptions.self == CKFetchRecordZoneChangesOperation.ZoneOptions.self)
        try expect(CKError.Code.resultsTruncated.rawValue == 13)
    }

    /// The protocols that give classes initializers which Foundation does not let them have otherwise.
    private func makers() {
        let _: any NamedContainer.Type = CKContainer.self
        let _: any CKNotificationMaking.Type = CKNotification.self
        let _: any FormatPredicateMaking.Type = NSPredicate.self
        let _: any KeySortDescriptorMaking.Type = NSSortDescriptor.self
        _ = NSPredicate(format: "a == %d", 1)
        _ = NSPredicate(format: "a == %d", argumentArray: [1])
        _ = NSSortDescriptor(key: "a", ascending: true).key
        let _: (String) -> CKContainer = CKContainer.make
        _ = NSPredicate.make("a == 1")
        _ = NSSortDescriptor.make("a")
        _ = CKQueryNotification.make([:])
    }

    private func rawValues() throws {
        try expect(CKOperationGroup.TransferSize(rawValue: 1) == .kilobytes)
        try expect(CKModifyRecordsOperation.RecordSavePolicy(rawValue: 2) == .allKeys)
        try expect(CKRecordZone.EncryptionScope(rawValue: 1) == .perZone)
        try expect(CKRecordZone.Capabilities.atomic.rawValue == 2 as UInt)
        let codes: [CKError.Code] = [
            .internalError, .partialFailure, .networkUnavailable, .networkFailure, .badContainer, .serviceUnavailable,
            .requestRateLimited, .missingEntitlement, .notAuthenticated, .permissionFailure, .unknownItem,
            .invalidArguments, .serverRecordChanged, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
            .incompatibleVersion, .constraintViolation, .operationCancelled, .changeTokenExpired, .batchRequestFailed,
            .zoneBusy, .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone,
            .tooManyParticipants, .alreadyShared, .referenceViolation, .managedAccountRestricted,
            .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable, .accountTemporarilyUnavailable,
            .participantAlreadyInvited,
        ]
        try expect(codes.allSatisfy { CKError.Code(rawValue: $0.rawValue) == $0 })
    }
}

// Factories of clients.

extension CKContainer {
    static func make(_ name: String) -> Self { Self(identifier: name) }
}

extension CKNotification {
    static func make(_ dictionary: [AnyHashable: Any]) -> Self? { Self(fromRemoteNotificationDictionary: dictionary) }
}

extension NSPredicate {
    static func make(_ format: String) -> Self { Self(format: format) }
}

extension NSSortDescriptor {
    static func make(_ key: String) -> Self { Self(key: key, ascending: true) }
}
