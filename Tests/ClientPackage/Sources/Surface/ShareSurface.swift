import CloudKit

/// The surface of shares: the record, those who take part, and how to join.
struct ShareSurface: Section {
    private let zone = CKRecordZone.ID(zoneName: "Lists")

    @available(*, deprecated)
    func check() async throws {
        let store = try CloudStore.inMemory()
        let container = store.container(user: "anna")
        try constants()
        try share()
        participant()
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "root", zoneID: zone))
        let share = CKShare(rootRecord: root)
        share.allowsAccessRequests = true
        try await container.privateCloudDatabase.save(CKRecordZone(zoneID: zone))
        _ = try await container.privateCloudDatabase.modifyRecords(saving: [root, share], deleting: [])
        guard let url = share.url else { throw Unexpected("the share has no URL") }
        try metadata(try await store.console.open(url, as: "anna", device: "phone"))
        _ = try await store.container(user: "bert").requestShareAccess(for: [url])
        calls(container)
        participants(container)
        operations()
        try await interface(store, container, share)
    }

    @available(*, deprecated)
    private func constants() throws {
        let keys: [CKRecord.FieldKey] = [
            CKShare.SystemFieldKey.title, CKShare.SystemFieldKey.thumbnailImageData, CKShare.SystemFieldKey.shareType,
        ]
        try expect(keys.allSatisfy { $0.hasPrefix("cloudkit.") })
        let statuses: [CKShare.ParticipantAcceptanceStatus] = [.unknown, .pending, .accepted, .removed]
        let permissions: [CKShare.ParticipantPermission] = [.unknown, .none, .readOnly, .readWrite]
        let roles: [CKShare.ParticipantRole] = [.unknown, .owner, .administrator, .privateUser, .publicUser]
        try expect(statuses.map(\.rawValue) == Array(0...3) && permissions.map(\.rawValue) == Array(0...3))
        try expect(roles.map(\.rawValue) == Array(0...4) && CKShare.ParticipantRole(rawValue: 1) == .owner)
        try expect(CKShare.ParticipantPermission(rawValue: 2) == .readOnly)
        try expect(CKShare.ParticipantAcceptanceStatus(rawValue: 2) == .accepted)
        let _: CKShare.ParticipantAcceptanceStatus.Type = CKShare_Participant_AcceptanceStatus.self
        let _: CKShare.ParticipantPermission.Type = CKShare_Participant_Permission.self
        let _: CKShare.ParticipantRole.Type = CKShare_Participant_Role.self
        let _: CKShare.ParticipantAcceptanceStatus.Type = CKShare.Participant.AcceptanceStatus.self
        let _: CKShare.ParticipantPermission.Type = CKShare.Participant.Permission.self
        let _: CKShare.ParticipantRole.Type = CKShare.Participant.Role.self
        let _: [CloudStore.RequestKind] = [.fetchShares, .joinShares]
        try expect(CloudStore.Options.service.shareURLBase == "https://www.icloud.com/share/")
    }

    private func share() throws {
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "root", zoneID: zone))
        _ = CKShare(rootRecord: root, shareID: CKRecord.ID(recordName: "share", zoneID: zone))
        let share = CKShare(recordZoneID: zone)
        keeps(share, \.publicPermission, CKShare.ParticipantPermission.self)
        keeps(share, \.allowsAccessRequests, Bool.self)
        gives(share, \.url, URL?.self)
        gives(share, \.participants, [CKShare.Participant].self)
        gives(share, \.owner, CKShare.Participant.self)
        gives(share, \.currentUserParticipant, CKShare.Participant?.self)
        gives(share, \.requesters, [CKShare.AccessRequester].self)
        gives(share, \.blockedIdentities, [CKShare.BlockedIdentity].self)
        let guest = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(guest)
        share.removeParticipant(guest)
        let _: URL? = share.oneTimeURL(for: guest.participantID)
        share.denyRequesters([])
        share.blockRequesters([])
        share.unblockIdentities([])
        let _: (CKShare, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKShare) -> (NSCoder) -> Void = CKShare.encode(with:)
        let _: (CKShare) -> (NSCoder) -> Void = CKShare.encodeSystemFields(with:)
        let _: (NSCoder) -> CKShare? = CKShare.init(coder:)
    }

    private func participant() {
        typealias Guest = CKShare.Participant
        let _: CKShareParticipant.Type = Guest.self
        let guest = Guest.oneTimeURLParticipant()
        keeps(guest, \.role, CKShare.ParticipantRole.self)
        keeps(guest, \.permission, CKShare.ParticipantPermission.self)
        gives(guest, \.userIdentity, CKUserIdentity.self)
        gives(guest, \.acceptanceStatus, CKShare.ParticipantAcceptanceStatus.self)
        gives(guest, \.participantID, Guest.ID.self)
        gives(guest, \.isApprovedRequester, Bool.self)
        gives(guest, \.dateAddedToShare, Date?.self)
        object(Guest.self, Guest.init(coder:), Guest.encode(with:), Guest.isEqual) { $0.copy(with: $1) }
        typealias Asking = CKShare.AccessRequester
        let _: CKShareAccessRequester.Type = Asking.self
        let _: KeyPath<Asking, CKUserIdentity> = \.userIdentity
        let _: KeyPath<Asking, CKUserIdentity.LookupInfo> = \.participantLookupInfo
        object(Asking.self, Asking.init(coder:), Asking.encode(with:), Asking.isEqual) { $0.copy(with: $1) }
        typealias Blocked = CKShare.BlockedIdentity
        let _: CKShareBlockedIdentity.Type = Blocked.self
        let _: KeyPath<Blocked, CKUserIdentity> = \.userIdentity
        object(Blocked.self, Blocked.init(coder:), Blocked.encode(with:), Blocked.isEqual) { $0.copy(with: $1) }
        let _: [KeyPath<Guest, String>] = [\.description, \.debugDescription]
        let _: [KeyPath<Asking, String>] = [\.description, \.debugDescription]
        let _: [KeyPath<Blocked, String>] = [\.description, \.debugDescription]
        let _: (KeyPath<Guest, Int>, KeyPath<Asking, Int>, KeyPath<Blocked, Int>) = (\.hash, \.hash, \.hash)
        let _: Bool = Guest.supportsSecureCoding && Asking.supportsSecureCoding && Blocked.supportsSecureCoding
    }

    private func object<Object: NSObject & NSSecureCoding & NSCopying & Sendable>(
        _: Object.Type, _: (NSCoder) -> Object?, _: (Object) -> (NSCoder) -> Void, _: (Object) -> (Any?) -> Bool,
        _: (Object, NSZone?) -> Any
    ) {}

    @available(*, deprecated)
    private func metadata(_ metadata: CKShare.Metadata) throws {
        typealias Metadata = CKShare.Metadata
        let _: CKShareMetadata.Type = Metadata.self
        gives(metadata, \.containerIdentifier, String.self)
        gives(metadata, \.share, CKShare.self)
        gives(metadata, \.hierarchicalRootRecordID, CKRecord.ID?.self)
        gives(metadata, \.rootRecord, CKRecord?.self)
        gives(metadata, \.participantRole, CKShare.ParticipantRole.self)
        gives(metadata, \.participantStatus, CKShare.ParticipantAcceptanceStatus.self)
        gives(metadata, \.participantPermission, CKShare.ParticipantPermission.self)
        gives(metadata, \.ownerIdentity, CKUserIdentity.self)
        gives(metadata, \.rootRecordID, CKRecord.ID.self)
        object(Metadata.self, Metadata.init(coder:), Metadata.encode(with:), Metadata.isEqual) { $0.copy(with: $1) }
        let _: [KeyPath<Metadata, String>] = [\.description, \.debugDescription]
        let _: KeyPath<Metadata, Int> = \.hash
        try expect(Metadata.supportsSecureCoding && metadata.participantRole == .owner)
    }

    private func calls(_ container: CKContainer) {
        typealias Found<ID: Hashable, Value> = Results<ID, Value>
        let _: (URL) async throws -> CKShare.Metadata = container.shareMetadata(for:)
        let _: ([URL]) async throws -> Found<URL, CKShare.Metadata> = container.shareMetadatas(for:)
        let _: (URL, @escaping Handler<CKShare.Metadata>) -> Void =
            container.fetchShareMetadata(with:completionHandler:)
        let _: ([URL], @escaping ResultHandler<Found<URL, CKShare.Metadata>>) -> Void =
            container.fetchShareMetadatas(for:completionHandler:)
        let _: (CKShare.Metadata) async throws -> CKShare = container.accept(_:)
        let _: ([CKShare.Metadata]) async throws -> Found<CKShare.Metadata, CKShare> = container.accept(_:)
        let _: (CKShare.Metadata, @escaping Handler<CKShare>) -> Void = container.accept(_:completionHandler:)
        let _: ([CKShare.Metadata], @escaping ResultHandler<Found<CKShare.Metadata, CKShare>>) -> Void =
            container.accept(_:completionHandler:)
        let _: ([URL]) async throws -> Found<URL, Void> = container.requestShareAccess(for:)
    }

    private func participants(_ container: CKContainer) {
        typealias Guest = CKShare.Participant
        typealias Info = CKUserIdentity.LookupInfo
        let _: (String) async throws -> Guest = container.shareParticipant(forEmailAddress:)
        let _: (String) async throws -> Guest = container.shareParticipant(forPhoneNumber:)
        let _: (CKRecord.ID) async throws -> Guest = container.shareParticipant(forUserRecordID:)
        let _: (String, @escaping Handler<Guest>) -> Void =
            container.fetchShareParticipant(withEmailAddress:completionHandler:)
        let _: (String, @escaping Handler<Guest>) -> Void =
            container.fetchShareParticipant(withPhoneNumber:completionHandler:)
        let _: (CKRecord.ID, @escaping Handler<Guest>) -> Void =
            container.fetchShareParticipant(withUserRecordID:completionHandler:)
        let _: ([String]) async throws -> Results<String, Guest> = container.shareParticipants(forEmailAddresses:)
        let _: ([String]) async throws -> Results<String, Guest> = container.shareParticipants(forPhoneNumbers:)
        let _: ([CKRecord.ID]) async throws -> Results<CKRecord.ID, Guest> =
            container.shareParticipants(forUserRecordIDs:)
        let _: ([Info]) async throws -> Results<Info, Guest> = container.shareParticipants(for:)
        let _: ([String], @escaping ResultHandler<Results<String, Guest>>) -> Void =
            container.fetchShareParticipants(forEmailAddresses:completionHandler:)
        let _: ([String], @escaping ResultHandler<Results<String, Guest>>) -> Void =
            container.fetchShareParticipants(forPhoneNumbers:completionHandler:)
        let _: ([CKRecord.ID], @escaping ResultHandler<Results<CKRecord.ID, Guest>>) -> Void =
            container.fetchShareParticipants(forUserRecordIDs:completionHandler:)
    }

    @available(*, deprecated)
    private func operations() {
        typealias End = ((Result<Void, Error>) -> Void)?
        _ = CKFetchShareMetadataOperation()
        let fetch = CKFetchShareMetadataOperation(shareURLs: [])
        keeps(fetch, \.shareURLs, [URL]?.self)
        keeps(fetch, \.shouldFetchRootRecord, Bool.self)
        keeps(fetch, \.rootRecordDesiredKeys, [CKRecord.FieldKey]?.self)
        keeps(fetch, \.perShareMetadataResultBlock, ((URL, Result<CKShare.Metadata, Error>) -> Void)?.self)
        keeps(fetch, \.fetchShareMetadataResultBlock, End.self)
        keeps(fetch, \.perShareMetadataBlock, ((URL, CKShare.Metadata?, Error?) -> Void)?.self)
        keeps(fetch, \.fetchShareMetadataCompletionBlock, ((Error?) -> Void)?.self)
        _ = CKAcceptSharesOperation()
        let accept = CKAcceptSharesOperation(shareMetadatas: [])
        keeps(accept, \.shareMetadatas, [CKShare.Metadata]?.self)
        keeps(accept, \.perShareResultBlock, ((CKShare.Metadata, Result<CKShare, Error>) -> Void)?.self)
        keeps(accept, \.acceptSharesResultBlock, End.self)
        keeps(accept, \.perShareCompletionBlock, ((CKShare.Metadata, CKShare?, Error?) -> Void)?.self)
        keeps(accept, \.acceptSharesCompletionBlock, ((Error?) -> Void)?.self)
        _ = CKFetchShareParticipantsOperation()
        let find = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [])
        typealias Found = ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, Error>) -> Void)?
        keeps(find, \.userIdentityLookupInfos, [CKUserIdentity.LookupInfo]?.self)
        keeps(find, \.perShareParticipantResultBlock, Found.self)
        keeps(find, \.fetchShareParticipantsResultBlock, End.self)
        keeps(find, \.shareParticipantFetchedBlock, ((CKShare.Participant) -> Void)?.self)
        keeps(find, \.fetchShareParticipantsCompletionBlock, ((Error?) -> Void)?.self)
        _ = CKShareRequestAccessOperation()
        let ask = CKShareRequestAccessOperation(shareURLs: [])
        keeps(ask, \.shareURLs, [URL]?.self)
        keeps(ask, \.perShareAccessRequestResultBlock, ((URL, Result<Void, Error>) -> Void)?.self)
        keeps(ask, \.shareAccessRequestResultBlock, End.self)
    }

    private func interface(_ store: CloudStore, _ container: CKContainer, _ share: CKShare) async throws {
        let observer = CKSystemSharingUIObserver(container: container)
        let didSave: (@Sendable (CKRecord.ID, Result<CKShare, Error>) -> Void)? =
            observer.systemSharingUIDidSaveShareBlock
        observer.systemSharingUIDidSaveShareBlock = didSave
        let didStop: (@Sendable (CKRecord.ID, Result<Void, Error>) -> Void)? =
            observer.systemSharingUIDidStopSharingBlock
        observer.systemSharingUIDidStopSharingBlock = didStop
        let sheet: CloudStore.Console.SharingSheet = store.console.sharingSheet(for: share.recordID, of: "anna")
        guard let current = try await container.privateCloudDatabase.record(for: share.recordID) as? CKShare else {
            throw Unexpected("the share's record is not a share")
        }
        try await sheet.save(current)
        try await sheet.stopSharing()
    }
}
