import CloudKit

/// The surface of sharing, and of operations on notifications and tokens.
struct SharingSurface: Section {
    @available(*, deprecated)
    func check() throws {
        try options()
        notifications()
    }

    // CKAllowedSharingOptions and the option sets of its properties.
    private func options() throws {
        let permissions: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
        try expect(permissions == .any && permissions.rawValue == 3 as UInt)
        try expect(CKSharingParticipantPermissionOption(rawValue: 3) == permissions)
        let access: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
        try expect(access == .any && access.rawValue == 3 as UInt)
        try expect(CKSharingParticipantAccessOption(rawValue: 3) == access)
        let options = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: permissions, allowedParticipantAccessOptions: access)
        let _: CKAllowedSharingOptions = .standard
        keeps(options, \.allowedParticipantPermissionOptions, CKSharingParticipantPermissionOption.self)
        keeps(options, \.allowedParticipantAccessOptions, CKSharingParticipantAccessOption.self)
        keeps(options, \.allowsParticipantsToInviteOthers, Bool.self)
        keeps(options, \.allowsAccessRequests, Bool.self)
        let _: any (NSSecureCoding & NSCopying & Sendable).Type = CKAllowedSharingOptions.self
        let _: KeyPath<CKAllowedSharingOptions, String> = \.description
        let _: KeyPath<CKAllowedSharingOptions, String> = \.debugDescription
        let _: (CKAllowedSharingOptions, NSZone?) -> Any = { $0.copy(with: $1) }
        let _: (CKAllowedSharingOptions) -> (NSCoder) -> Void = CKAllowedSharingOptions.encode(with:)
        let _: (NSCoder) -> CKAllowedSharingOptions? = CKAllowedSharingOptions.init(coder:)
        try expect(CKAllowedSharingOptions.supportsSecureCoding)
    }

    // CKModifyBadgeOperation, CKMarkNotificationsReadOperation, CKFetchNotificationChangesOperation,
    // CKFetchWebAuthTokenOperation.
    @available(*, deprecated)
    private func notifications() {
        _ = CKModifyBadgeOperation()
        let badge = CKModifyBadgeOperation(badgeValue: 1)
        keeps(badge, \.badgeValue, Int.self)
        keeps(badge, \.modifyBadgeCompletionBlock, ((Error?) -> Void)?.self)
        _ = CKMarkNotificationsReadOperation()
        let read = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
        keeps(read, \.notificationIDs, [CKNotification.ID]?.self)
        keeps(read, \.markNotificationsReadCompletionBlock, (([CKNotification.ID]?, Error?) -> Void)?.self)
        _ = CKFetchNotificationChangesOperation()
        let changes = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
        keeps(changes, \.previousServerChangeToken, CKServerChangeToken?.self)
        keeps(changes, \.resultsLimit, Int.self)
        gives(changes, \.moreComing, Bool.self)
        keeps(changes, \.notificationChangedBlock, ((CKNotification) -> Void)?.self)
        typealias Fetched = ((CKServerChangeToken?, Error?) -> Void)?
        keeps(changes, \.fetchNotificationChangesCompletionBlock, Fetched.self)
        _ = CKFetchWebAuthTokenOperation()
        let token = CKFetchWebAuthTokenOperation(apiToken: "")
        keeps(token, \.apiToken, String?.self)
        keeps(token, \.fetchWebAuthTokenResultBlock, ((Result<String, Error>) -> Void)?.self)
        keeps(token, \.fetchWebAuthTokenCompletionBlock, ((String?, Error?) -> Void)?.self)
        let _: CKDatabaseOperation = token
    }
}
