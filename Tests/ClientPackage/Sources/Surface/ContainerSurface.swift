import CloudKit

/// The surface of containers, constants and errors.
struct ContainerSurface: Section {
    @available(*, deprecated)
    func check() async throws {
        try container()
        try await configured()
        try constants()
        try error()
        try describedError()
        try codes()
        try deprecatedCode()
        try patterns()
    }

    // CKContainer.
    func container() throws {
        let container = try CloudStore.inMemory().container(user: "anna")
        let _: () -> CKContainer = CKContainer.default
        let _: (String) -> CKContainer = { CKContainer(identifier: $0) }
        gives(container, \.containerIdentifier, String?.self)
        gives(container, \.privateCloudDatabase, CKDatabase.self)
        gives(container, \.publicCloudDatabase, CKDatabase.self)
        gives(container, \.sharedCloudDatabase, CKDatabase.self)
        let _: (CKOperation) -> Void = container.add
        let _: (CKDatabase.Scope) -> CKDatabase = container.database(with:)
        let _: (@escaping @Sendable (CKAccountStatus, Error?) -> Void) -> Void =
            container.accountStatus(completionHandler:)
        let _: () async throws -> CKAccountStatus = container.accountStatus
        let _: (@escaping Handler<CKRecord.ID>) -> Void = container.fetchUserRecordID(completionHandler:)
        let _: () async throws -> CKRecord.ID = container.userRecordID
        let _: (@escaping Handler<[CKOperation.ID]>) -> Void =
            container.fetchAllLongLivedOperationIDs(completionHandler:)
        let _: () async throws -> [CKOperation.ID] = container.allLongLivedOperationIDs
        let _: (CKOperation.ID, @escaping Handler<CKOperation>) -> Void =
            container.fetchLongLivedOperation(withID:completionHandler:)
        let _: (CKOperation.ID) async throws -> CKOperation? = container.longLivedOperation(for:)
        let _: [CKAccountStatus] = [
            .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable,
        ]
        try expect(CKAccountStatus(rawValue: 4) == .temporarilyUnavailable)
    }

    // configuredWith gives what its body gives, and throws only what that throws.
    func configured() async throws {
        let container = try CloudStore.inMemory().container(user: "anna")
        let one: Int = container.configuredWith { _ in 1 }
        let two: Int = container.configuredWith(configuration: CKOperation.Configuration()) { _ in 2 }
        let three: Int = container.configuredWith(configuration: nil, group: CKOperationGroup()) { _ in 3 }
        let four: Int = await container.configuredWith(group: nil) { container in
            await Task.yield()
            return container.containerIdentifier == nil ? 0 : 4
        }
        let database = container.privateCloudDatabase
        let five: Int = database.configuredWith(configuration: nil, group: nil) { _ in 5 }
        let six: Int = await database.configuredWith { database in
            await Task.yield()
            return database.databaseScope == .private ? 6 : 0
        }
        database.configuredWith { $0.databaseScope }
        let given: [Int] = [one, two, three, four, five, six]
        try expect(given == Array(1...6))
        do {
            try container.configuredWith { _ in throw CKError(.zoneBusy) }
            throw Unexpected("an error got lost")
        } catch CKError.zoneBusy {}
    }

    // Constants.
    func constants() throws {
        let strings: [String] = [
            CKCurrentUserDefaultName, CKRecordNameZoneWideShare, CKErrorDomain, CKPartialErrorsByItemIDKey,
            CKRecordChangedErrorAncestorRecordKey, CKRecordChangedErrorServerRecordKey,
            CKRecordChangedErrorClientRecordKey, CKErrorUserDidResetEncryptedDataKey, CKErrorRetryAfterKey,
        ]
        try expect(Set(strings).count == strings.count)
        let _: NSNotification.Name = .CKAccountChanged
    }

    // CKError.
    func error() throws {
        let error = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3])
        try expect(CKError(_nsError: NSError(domain: CKErrorDomain, code: 23)).code == CKError(.zoneBusy).code)
        gives(error, \.code, CKError.Code.self)
        gives(error, \.errorCode, Int.self)
        gives(error, \.userInfo, [String: Any].self)
        gives(error, \.errorUserInfo, [String: Any].self)
        gives(error, \.localizedDescription, String.self)
        gives(error, \.partialErrorsByItemID, [AnyHashable: Error]?.self)
        gives(error, \.ancestorRecord, CKRecord?.self)
        gives(error, \.serverRecord, CKRecord?.self)
        gives(error, \.clientRecord, CKRecord?.self)
        gives(error, \.retryAfterSeconds, Double?.self)
        try expect(CKError.errorDomain == CKErrorDomain && error.retryAfterSeconds == 3)
    }

    // Each code has its number, and a constant of the error's own type.
    func codes() throws {
        let codes: [CKError.Code] = [
            CKError.internalError, CKError.partialFailure, CKError.networkUnavailable, CKError.networkFailure,
            CKError.badContainer, CKError.serviceUnavailable, CKError.requestRateLimited, CKError.missingEntitlement,
            CKError.notAuthenticated, CKError.permissionFailure, CKError.unknownItem, CKError.invalidArguments,
            CKError.serverRecordChanged, CKError.serverRejectedRequest, CKError.assetFileNotFound,
            CKError.assetFileModified, CKError.incompatibleVersion, CKError.constraintViolation,
            CKError.operationCancelled, CKError.changeTokenExpired, CKError.batchRequestFailed, CKError.zoneBusy,
            CKError.badDatabase, CKError.quotaExceeded, CKError.zoneNotFound, CKError.limitExceeded,
            CKError.userDeletedZone, CKError.tooManyParticipants, CKError.alreadyShared, CKError.referenceViolation,
            CKError.managedAccountRestricted, CKError.participantMayNeedVerification, CKError.serverResponseLost,
            CKError.assetNotAvailable, CKError.accountTemporarilyUnavailable, CKError.participantAlreadyInvited,
        ]
        try expect(codes.map(\.rawValue) == Array(1...12) + Array(14...37))
    }

    // The code that is not used any more.
    @available(*, deprecated)
    func deprecatedCode() throws {
        try expect(CKError.resultsTruncated.rawValue == 13 && CKOwnerDefaultName == "__defaultOwner__")
    }

    // Errors are told apart as clients do it.
    func patterns() throws {
        let error: any Error = CKError(.unknownItem)
        do { throw error } catch CKError.unknownItem {} catch { throw Unexpected("not caught") }
        switch error {
        case CKError.zoneNotFound: throw Unexpected("taken for another")
        case CKError.unknownItem: break
        default: throw Unexpected("not known")
        }
        switch (error as? CKError)?.code {
        case .unknownItem?: break
        default: throw Unexpected("not known")
        }
    }

    // CKError, what Strata adds to it, and what a text of it is made of.
    func describedError() throws {
        let error = CKError(.partialFailure)
        gives(error, \.savedRecords, [CKRecord]?.self)
        gives(error, \.deletedRecordIDs, [CKRecord.ID]?.self)
        gives(error, \.description, String.self)
        gives(error, \.debugDescription, String.self)
        gives(error, \.errorDescription, String?.self)
        var hasher = Hasher()
        error.hash(into: &hasher)
        try expect(error == CKError(.partialFailure) && CKError.Code.partialFailure ~= error as any Error)
    }
}
