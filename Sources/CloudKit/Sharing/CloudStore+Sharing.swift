import Foundation
import StrataModel

extension CloudStore.Console {
    /// Returns the description of a share that the system passes to an app when a user opens the share's URL.
    ///
    /// ```swift
    /// let metadata = try await store.console.open(share.url!, as: "ben")
    /// try await store.container(user: "ben").accept(metadata)
    /// ```
    public func open(_ url: URL, as user: String, device: String = "default") async throws -> CKShare.Metadata {
        let call = DatabaseCall(client: client(of: user, device), scope: .private, settings: .convenience)
        return try await call.shareMetadata([url]).only()
    }

    /// Returns what stands for the system's sharing interface, opened for a share.
    ///
    /// - Parameters:
    ///   - shareID: The ID of the share's record.
    ///   - user: The user who has it on the screen.
    public func sharingSheet(for shareID: CKRecord.ID, of user: String) -> SharingSheet {
        SharingSheet(shareID: shareID, client: client(of: user, "default"))
    }

    private func client(of user: String, _ device: String) -> Client {
        Client(opened, Actor(user: user, device: device))
    }

    /// Stands for the system's sharing interface: what it does is reported to each ``CKSystemSharingUIObserver`` of the
    /// user.
    public struct SharingSheet: Sendable {
        let shareID: CKRecord.ID
        let client: Client

        private var database: CKDatabase {
            client.database(shareID.zoneID.model(for: client.userRecordName).owner.isEmpty ? .private : .shared)
        }

        private func notify(_ body: (CKSystemSharingUIObserver) -> Void) throws {
            let observers = try client.opened().sharingObservers.withLock { $0.objects }
            for observer in observers where isSameText(observer.user, client.actor.user) { body(observer) }
        }

        /// Saves the share, as changed by the user, and returns it as saved.
        @discardableResult
        public func save(_ share: CKShare) async throws -> CKShare {
            let result: Result<CKShare, Error>
            do {
                guard let saved = try await database.save(share) as? CKShare else {
                    throw CKError(.internalError, message: "The saved record is not a share.")
                }
                result = .success(saved)
            } catch { result = .failure(error) }
            try notify { $0.didSave(shareID, result) }
            return try result.get()
        }

        /// Deletes the share; for a participant, this leaves it.
        public func stopSharing() async throws {
            let result: Result<Void, Error>
            do {
                try await database.deleteRecord(withID: shareID)
                result = .success(())
            } catch { result = .failure(error) }
            try notify { $0.didStop(shareID, result) }
            try result.get()
        }
    }
}
