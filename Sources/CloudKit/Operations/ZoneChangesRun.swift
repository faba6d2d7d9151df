import Foundation
import StrataSystem

/// Fetches the changes of zones, one after another, each page by page.
// @unchecked: the blocks are called only on the operation's own queue.
struct ZoneChangesRun: OperationRun, @unchecked Sendable {
    /// A zone with its configuration when the operation started.
    struct Zone: Sendable {
        let id: CKRecordZone.ID
        let since: CKServerChangeToken?
        let limit: Int
        let desiredKeys: [CKRecord.FieldKey]?

        init(_ id: CKRecordZone.ID, _ configuration: CKFetchRecordZoneChangesConfiguration?) {
            self.id = id
            since = configuration?.previousServerChangeToken
            limit = configuration?.resultsLimit ?? 0
            desiredKeys = configuration?.desiredKeys
        }
    }

    let call: DatabaseCall
    let zones: [Zone]
    let fetchesAll: Bool
    let changed: ((CKRecord.ID, Result<CKRecord, Error>) -> Void)?
    let deleted: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    let tokensUpdated: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    let zoneResult:
        (
            (
                CKRecordZone.ID,
                Result<(serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), Error>
            ) -> Void
        )?
    let result: ((Result<Void, Error>) -> Void)?
    let oldBlocks: CKFetchRecordZoneChangesOperation.OldBlocks
    /// The number of zones whose result has been delivered.
    private let deliveredCount = Lock(0)

    var settings: CallSettings { call.settings }
    var timeoutCode: CKError.Code { .networkFailure }

    /// Returns the errors of zones; everything else has already been delivered.
    func perform(_ pieces: OperationPieces) async throws -> [CKRecordZone.ID: CKError] {
        // A failure of the whole operation is no zone's error.
        _ = try call.client.readable(call.scope)
        var errors: [CKRecordZone.ID: CKError] = [:]
        for zone in zones {
            guard let error = try await fetch(zone, pieces) else { continue }
            if Self.endsAll(error) { throw error }
            errors[zone.id] = error
            guard await pieces.emit({ if !$0() { finish(zone, .failure(error)) } }) else { throw CKError.cancelled }
        }
        return errors
    }

    /// Returns true if the error affects all zones.
    private static func endsAll(_ error: CKError) -> Bool {
        let codes: [CKError.Code] = [
            .operationCancelled, .serviceUnavailable, .notAuthenticated, .accountTemporarilyUnavailable,
        ]
        return codes.contains(error.code)
    }

    /// Returns the zone's own error, if it has one.
    private func fetch(_ zone: Zone, _ pieces: OperationPieces) async throws -> CKError? {
        var token = zone.since
        while true {
            let page: ZoneChangesPage
            do throws(CKError) {
                let answer = try await call.zoneChanges(
                    of: zone.id, since: token, zone.desiredKeys, limit: zone.limit)
                switch answer {
                case .success(let success): page = success
                case .failure(let error): return error
                }
            } catch {
                // A token belongs to one zone.
                if error.code == .changeTokenExpired { return error }
                throw error
            }
            let isLast = !fetchesAll || !page.moreComing
            token = page.token
            let goesOn = await pieces.emit { isCancelled in
                report(page, isCancelled)
                // The token implies that everything before it has been delivered.
                if isCancelled() { return }
                if isLast {
                    finish(zone, .success(page))
                } else {
                    tokensUpdated?(zone.id, page.token, page.clientToken)
                }
            }
            guard goesOn else { throw CKError.cancelled }
            if isLast { return nil }
        }
    }

    private func report(_ page: ZoneChangesPage, _ isCancelled: () -> Bool) {
        for (id, found) in page.changed where !isCancelled() {
            if let changed {
                changed(id, found.mapError { $0 })
            } else if case .success(let record) = found {
                oldBlocks.record?(record)
            }
        }
        for deletion in page.deletions where !isCancelled() { deleted?(deletion.recordID, deletion.recordType) }
    }

    private func finish(_ zone: Zone, _ outcome: Result<ZoneChangesPage, CKError>) {
        deliveredCount.withLock { $0 += 1 }
        guard let zoneResult else {
            switch outcome {
            case .success(let page): oldBlocks.zone?(zone.id, page.token, page.clientToken, page.moreComing, nil)
            case .failure(let error): oldBlocks.zone?(zone.id, nil, nil, false, error)
            }
            return
        }
        zoneResult(zone.id, outcome.map { ($0.token, $0.clientToken, $0.moreComing) }.mapError { $0 })
    }

    func deliver(_ outcome: Result<[CKRecordZone.ID: CKError], CKError>, isCancelled: () -> Bool) {
        switch outcome {
        case .success(let errors):
            if isCancelled() { return end(.cancelled, .cancelled) }
            end(
                nil,
                errors.isEmpty
                    ? nil : CKError(partialErrors: errors, message: "The changes of some zones could not be fetched."))
        case .failure(let error):
            if error.code == .operationCancelled {
                for zone in zones.dropFirst(deliveredCount.withLock { $0 }) { finish(zone, .failure(error)) }
            }
            end(error, error)
        }
    }

    /// - Parameter oldError: The error for the block of the first API generation (B85, B160).
    private func end(_ error: CKError?, _ oldError: CKError?) {
        if let result { return result(error.map { .failure($0) } ?? .success(())) }
        oldBlocks.completion?(oldError)
    }
}
