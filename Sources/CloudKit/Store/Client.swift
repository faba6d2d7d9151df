import Foundation
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataViews

/// One device of one user on one store, or the reason that the store could not be opened.
final class Client: Sendable {
    /// The opened store; a failure is the error of every call (docs/cloudkit.md).
    private let opening: Result<CloudStore, CKError>
    let actor: Actor
    /// The name of a container whose store could not be opened.
    private let identifier: String
    private let recordedName = Lock<String?>(nil)
    /// Calls blocks that belong to no operation. Concurrent, so that a slow block does not delay the others.
    let callbacks = DispatchQueue(label: "CloudKit.callbacks", attributes: .concurrent)
    /// Runs the operations that are added to a container or to its databases.
    let operations = OperationQueue()
    private let handedOut = Lock(HandedOut())
    /// Each engine is a device of its own to the others (B473), although the store counts them as one.
    let syncEngines = Lock(WeakList<SyncCore>())

    init(_ opened: CloudStore, _ actor: Actor) {
        opening = .success(opened)
        self.actor = actor
        identifier = ""
        opened.faults.join(self)
    }

    init(failure: CKError, _ actor: Actor, identifier: String) {
        opening = .failure(failure)
        self.actor = actor
        self.identifier = identifier
    }

    /// The record name of the user's own record; empty without a store that can be read.
    var userRecordName: String {
        if let known = recordedName.withLock(\.self) { return known }
        guard let snapshot = try? opening.get().store.newest, let name = try? snapshot.recordName(of: actor.user)
        else { return "" }
        // Until a commit records the name, another process may draw the store's secret first.
        if (try? snapshot.person(of: actor.user)) != nil { recordedName.withLock { $0 = name } }
        return name
    }

    func opened() throws(CKError) -> CloudStore { try opening.get() }

    var containerIdentifier: String {
        guard case .success(let opened) = opening else { return identifier }
        return opened.containerIdentifier.withLock { $0 }
    }

    /// Returns the zone ID as callers see it: the current user is `__defaultOwner__` under any of their names (B2).
    func canonical(_ zone: CKRecordZone.ID) -> CKRecordZone.ID {
        // Most zone IDs leave the owner out.
        if zone.model.owner.isEmpty { return zone }
        return isSameText(zone.ownerName, userRecordName) ? CKRecordZone.ID(zoneName: zone.zoneName) : zone
    }

    func canonical(_ id: CKRecord.ID) -> CKRecord.ID {
        let zone = canonical(id.zoneID)
        return zone === id.zoneID ? id : CKRecord.ID(recordName: id.recordName, zoneID: zone)
    }

    // MARK: Objects

    /// The objects that callers hold. The references are weak because each object holds the client.
    private struct HandedOut {
        struct Database {
            weak var object: CKDatabase?
        }

        weak var container: CKContainer?
        var databases: [CKDatabase.Scope: Database] = [:]
    }

    /// The container; the same object as long as a caller holds it.
    var container: CKContainer {
        handedOut.withLock { handedOut in
            if let container = handedOut.container { return container }
            let container = CKContainer(self, scope: nil)
            handedOut.container = container
            return container
        }
    }

    /// Returns a database; the same object as long as a caller holds it or its container (B223).
    func database(_ scope: CKDatabase.Scope) -> CKDatabase {
        handedOut.withLock { handedOut in
            if let database = handedOut.databases[scope]?.object { return database }
            let database = CKDatabase(self, scope, within: nil)
            handedOut.databases[scope] = HandedOut.Database(object: database)
            return database
        }
    }

    // MARK: The account

    var accountStatus: CKAccountStatus {
        guard !actor.user.isEmpty, case .success(let opened) = opening else {
            return actor.user.isEmpty ? .noAccount : .couldNotDetermine
        }
        // A closed store says nothing about the account; the call itself reports it.
        guard let account = try? opened.store.account(of: actor.user) else { return .available }
        return CKAccountStatus(account.status)
    }

    /// - Throws: The error of a call without a usable account (B220, B221).
    func requireAccount() throws(CKError) {
        _ = try opened()
        switch accountStatus {
        case .available: return
        case .temporarilyUnavailable:
            throw CKError(.accountTemporarilyUnavailable, message: "The account is temporarily unavailable.")
        case .restricted:
            throw CKError(.notAuthenticated, message: "The use of the account on this device is restricted.")
        case .noAccount, .couldNotDetermine:
            throw CKError(
                .notAuthenticated,
                message: "No one is signed in on this device; only the public database can be read.")
        }
    }

    /// Returns the store for reading a database.
    func readable(_ scope: CKDatabase.Scope) throws(CKError) -> CloudStore {
        if scope != .public { try requireAccount() }
        return try opened()
    }

    /// Returns the store for changing it.
    func writable() throws(CKError) -> CloudStore {
        try requireAccount()
        return try opened()
    }
}
