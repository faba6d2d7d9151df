import Foundation
import StrataModel

extension DatabaseCall {
    /// Makes a request, over the device's network and with what the console said is to go wrong (docs/console.md).
    ///
    /// - Parameter carriesToken: whether it goes on where a change token says.
    /// - Throws: `CKError`, whatever the body throws.
    nonisolated(nonsending) func asking<Value: Sendable>(
        _ kind: CloudStore.RequestKind, carriesToken: Bool = false,
        _ body: nonisolated(nonsending) (Client.Opened) async throws -> Value
    ) async throws(CKError) -> Value {
        do {
            let opened = try client.opened()
            let disturbance = opened.disturbances.strike(
                kind, of: client.actor, allowsCellularAccess: settings.allowsCellularAccess,
                carriesToken: carriesToken)
            guard let disturbance else { return try await body(try usable(for: kind)) }
            if let delay = disturbance.delay, delay > .zero { try await Task.sleep(for: delay) }
            // A request that the network or the service rejects never gets as far as the account.
            if let failure = disturbance.failure {
                note(disturbance, opened)
                throw failure
            }
            let value = try await body(try usable(for: kind))
            if disturbance.losesResponse {
                note(disturbance, opened)
                throw CKError(.serverResponseLost, message: "The request was applied, and its answer was lost.")
            }
            return value
        } catch {
            throw CKError(engine: error)
        }
    }

    /// The store, for an actor who may make such a request.
    private func usable(for kind: CloudStore.RequestKind) throws(CKError) -> Client.Opened {
        switch kind {
        // Subscriptions belong to a user: nobody has any without an account, in the public database neither.
        case .modifyRecords, .modifyRecordZones, .modifySubscriptions, .fetchSubscriptions: try client.writable()
        default: try client.readable(scope)
        }
    }

    private func note(_ disturbance: Disturbance, _ opened: Client.Opened) {
        if let text = disturbance.note { note(text, opened) }
    }

    private func note(_ text: String, _ opened: Client.Opened) {
        opened.store.noteFault(ConsoleNote(text, user: client.actor.user, device: client.actor.device))
    }

    /// The errors of items that fail alone because the console said so, by their place.
    func itemErrors(_ count: Int, _ kind: CloudStore.RequestKind, _ opened: Client.Opened) -> [Int: CKError] {
        // What an earlier process sent is sent already.
        if replayedSince != nil { return [:] }
        let errors = opened.disturbances.strikeItems(count, kind, of: client.actor)
        if let (_, error) = errors.first {
            let note = "\(errors.count) items of \(kind.rawValue) failed, one of them with \(error.code)"
            self.note(note, opened)
        }
        return errors
    }
}

/// Items of a modification without those that fail before the store sees them.
struct KeptItems<Save, DeleteID> {
    private(set) var saves: [Save] = []
    private(set) var deletes: [DeleteID] = []
    private let allSaves: [Save]
    private let allDeletes: [DeleteID]
    private let errors: [Int: CKError]

    /// - Parameter errors: by the place of the item, deletes behind saves; asked with the number of items.
    init(_ saves: [Save], _ deletes: [DeleteID], _ errors: (Int) -> [Int: CKError]) {
        (allSaves, allDeletes) = (saves, deletes)
        self.errors = errors(saves.count + deletes.count)
        self.saves = saves.indices.filter { self.errors[$0] == nil }.map { saves[$0] }
        self.deletes = deletes.indices.filter { self.errors[saves.count + $0] == nil }.map { deletes[$0] }
    }

    /// The outcome for all items, in their order, of what the kept ones came to.
    func merged<Outcome: ModifyOutcome>(
        _ outcome: Outcome, id: (Save) -> Outcome.ItemID
    ) -> Outcome where Outcome.ItemID == DeleteID {
        if errors.isEmpty { return outcome }
        var merged = outcome
        var (saves, deletes) = (outcome.saves.makeIterator(), outcome.deletes.makeIterator())
        merged.saves = allSaves.enumerated().compactMap { index, save in
            if let error = errors[index] { return (id(save), .failure(error)) }
            return saves.next()
        }
        merged.deletes = allDeletes.enumerated().compactMap { index, deleted in
            if let error = errors[allSaves.count + index] { return (deleted, error) }
            return deletes.next()
        }
        return merged
    }
}
