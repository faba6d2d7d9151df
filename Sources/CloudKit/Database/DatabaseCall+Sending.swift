import Foundation
import StrataModel

extension DatabaseCall {
    /// Makes a request over the device's network, with the failures set by the console (docs/console.md).
    ///
    /// - Parameter carriesToken: True if the request continues from a change token.
    /// - Throws: `CKError`; other errors of the body are converted.
    nonisolated(nonsending) func asking<Value: Sendable>(
        _ kind: CloudStore.RequestKind, carriesToken: Bool = false,
        _ body: nonisolated(nonsending) (CloudStore) async throws -> Value
    ) async throws(CKError) -> Value {
        do {
            let (opened, fault) = try await send(kind, carriesToken: carriesToken)
            let value = try await body(opened)
            if let fault { try loseResponse(fault, opened) }
            return value
        } catch {
            throw CKError(engine: error)
        }
    }

    // These two are apart from `asking` since the compiler makes a copy of a generic function for each type of value.

    /// Brings a request to the store, with the failure and the delay that the console set.
    private nonisolated(nonsending) func send(
        _ kind: CloudStore.RequestKind, carriesToken: Bool
    ) async throws -> (CloudStore, InjectedFault?) {
        let opened = try client.opened()
        let fault = opened.faults.inject(
            kind, of: client.actor, allowsCellularAccess: settings.allowsCellularAccess, carriesToken: carriesToken)
        if let delay = fault?.delay, delay > .zero { try await Task.sleep(for: delay) }
        // The account is not checked for a request that the network or the service rejects.
        if let fault, let failure = fault.failure {
            note(fault, opened)
            throw failure
        }
        return (try usable(for: kind), fault)
    }

    private func loseResponse(_ fault: InjectedFault, _ opened: CloudStore) throws(CKError) {
        guard fault.losesResponse else { return }
        note(fault, opened)
        throw CKError(.serverResponseLost, message: "The request was applied, but its response was lost.")
    }

    /// Returns the store if the actor may make a request of this kind.
    private func usable(for kind: CloudStore.RequestKind) throws(CKError) -> CloudStore {
        switch kind {
        // Subscriptions belong to a user: without an account there are none, even in the public database.
        case .modifyRecords, .modifyRecordZones, .modifySubscriptions, .fetchSubscriptions: try client.writable()
        default: try client.readable(scope)
        }
    }

    private func note(_ fault: InjectedFault, _ opened: CloudStore) {
        if let text = fault.note { note(text, opened) }
    }

    private func note(_ text: String, _ opened: CloudStore) {
        opened.store.noteFault(ConsoleNote(text, user: client.actor.user, device: client.actor.device))
    }

    /// Returns the errors of the items that the console makes fail on their own, by index.
    func itemErrors(_ count: Int, _ kind: CloudStore.RequestKind, _ opened: CloudStore) -> [Int: CKError] {
        // An earlier process has already sent these items.
        if resentSince != nil { return [:] }
        let errors = opened.faults.strikeItems(count, kind, of: client.actor)
        if let (_, error) = errors.first {
            let note = "\(errors.count) items of \(kind.rawValue) failed, one of them with \(error.code)"
            self.note(note, opened)
        }
        return errors
    }
}

/// The items of a modification, except those that fail before the store sees them.
struct KeptItems<Save, DeleteID> {
    private(set) var saves: [Save] = []
    private(set) var deletes: [DeleteID] = []
    private let allSaves: [Save]
    private let allDeletes: [DeleteID]
    let errors: [Int: CKError]

    /// - Parameter errors: Returns errors by the index of the item, deletes after saves; called with the number of
    ///   items.
    init(_ saves: [Save], _ deletes: [DeleteID], _ errors: (Int) -> [Int: CKError]) {
        (allSaves, allDeletes) = (saves, deletes)
        self.errors = errors(saves.count + deletes.count)
        self.saves = saves.indices.filter { self.errors[$0] == nil }.map { saves[$0] }
        self.deletes = deletes.indices.filter { self.errors[saves.count + $0] == nil }.map { deletes[$0] }
    }

    /// Returns the outcome for all items, in their order, given the outcome for the kept ones.
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
