import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    /// Returns the users who have granted that others find them (B388), each once, in the order of the lookups.
    func identities(
        _ infos: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> [(info: CKUserIdentity.LookupInfo, identity: CKUserIdentity)] {
        try await asking(.fetchUserIdentities) { opened in
            let snapshot = opened.store.newest
            return try Self.unique(infos).compactMap { info in
                let found = try snapshot.user(at: info.address(for: client.userRecordName))
                guard let found, found.person.discoverability == .granted else { return nil }
                return (info, try CKUserIdentity(found.person, of: found.name, in: snapshot, lookupInfo: info))
            }
        }
    }

    /// Returns the identities by what the user was looked up by.
    func identities<Key: Hashable & Sendable>(
        of keys: [Key], _ info: (Key) -> CKUserIdentity.LookupInfo
    ) async throws(CKError) -> [Key: CKUserIdentity] {
        let keysByInfo = Dictionary(keys.map { (info($0), $0) }) { first, _ in first }
        let found = try await identities(keys.map(info)).compactMap { info, identity in
            keysByInfo[info].map { ($0, identity) }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Returns whether others may find the user.
    func discoverability() async throws(CKError) -> Person.Discoverability {
        try await asking(.fetchUserIdentities) { opened in
            try opened.store.newest.person(of: client.actor.user)?.discoverability ?? .initial
        }
    }

    /// Grants that others may find the user, unless the answer is known: the user is asked once, for all devices.
    func requestDiscoverability() async throws(CKError) -> Person.Discoverability {
        try await asking(.requestPermission) { opened in
            let user = client.actor.user
            let known = try opened.store.newest.person(of: user)?.discoverability ?? .initial
            guard known == .initial else { return known }
            try opened.store.setDiscoverability(.granted, of: user)
            return .granted
        }
    }
}

extension CKUserIdentity {
    /// The identity of a user with an account.
    convenience init(
        _ person: Person, of user: String, in snapshot: StoreSnapshot, lookupInfo: LookupInfo?
    ) throws {
        let hasName = person.nameParts.contains { !$0.isEmpty }
        self.init(
            lookupInfo: lookupInfo, nameComponents: hasName ? PersonNameComponents(person) : nil,
            userRecordID: CKRecord.ID(recordName: try snapshot.recordName(of: user)), hasiCloudAccount: true)
    }
}
