import Foundation
import StrataModel
import StrataStore

extension DatabaseCall {
    /// Returns the descriptions of the shares with some URLs, in order; a repeated URL has one result.
    ///
    /// - Parameters:
    ///   - includesRoot: True if the roots are requested.
    ///   - desiredKeys: The keys of the roots; nil for all.
    func shareMetadata(
        _ urls: [URL], includesRoot: Bool = false, desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws(CKError) -> [(id: URL, result: Result<CKShare.Metadata, CKError>)] {
        try await asking(.fetchShares) { opened in
            let snapshot = opened.store.newest
            let urls = Self.unique(urls)
            let errors = itemErrors(urls.count, .fetchShares, opened)
            return urls.enumerated().map { index, url in
                if let error = errors[index] { return (url, .failure(error)) }
                do {
                    let token = try Self.token(of: url, opened.options)
                    let found = try snapshot.shareMetadata(
                        ofToken: token, desiredKeys: desiredKeys, includesRoot: includesRoot, as: client.actor)
                    return (url, .success(try metadata(found, token, isPartial: desiredKeys != nil)))
                } catch {
                    return (url, .failure(CKError(engine: error)))
                }
            }
        }
    }

    private func metadata(_ found: ShareMetadata, _ token: String, isPartial: Bool) throws -> CKShare.Metadata {
        let root = found.root.map { client.canonical(CKRecordID($0)) }
        let rootRecord = try found.rootRecord.flatMap { record in
            try root.map { try CKRecord.stored(record, id: $0, for: client, isPartial: isPartial) }
        }
        return CKShare.Metadata(
            try share(found), in: client.containerIdentifier, root: root, rootRecord,
            (.init(found.role), found.hasAccepted ? .accepted : .pending, .init(found.permission)), token: token,
            user: client.userRecordName)
    }

    private func share(_ found: ShareMetadata) throws -> CKShare {
        let record = try CKRecord.stored(found.record, id: CKRecordID(found.record.id), for: client)
        guard let share = record as? CKShare else {
            throw CKError(.internalError, message: "The share's record is not a share.")
        }
        return share
    }

    /// Returns the token in a share's URL.
    ///
    /// - Throws: ``CKError`` `invalidArguments` for a URL of something else (B347).
    private static func token(of url: URL, _ options: CloudStore.Options) throws(CKError) -> String {
        let text = url.absoluteString
        let rest = text.dropFirst(options.shareURLBase.count).prefix { $0 != "#" && $0 != "?" }
        let isToken = rest.utf8.count == 25 && rest.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        guard text.hasPrefix(options.shareURLBase), isToken else {
            throw CKError(.invalidArguments, message: "This is not the URL of a share: \(text)")
        }
        return String(rest)
    }

    /// Accepts shares, and returns them as the user then sees them.
    func accept(
        _ metadata: [CKShare.Metadata]
    ) async throws(CKError) -> [(id: CKShare.Metadata, result: Result<CKShare, CKError>)] {
        let metadata = Self.unique(metadata)
        let own = metadata.filter { isSameText($0.containerIdentifier, client.containerIdentifier) }
        let results = try await join(own, .accept) {
            $0.token
        } made: { metadata, answer in
            do {
                return try share(answer.snapshot.shareMetadata(ofToken: metadata.token, as: client.actor))
            } catch is Refusal {
                // The user was removed since, or the share ended.
                return metadata.share
            }
        }
        var joined = results.makeIterator()
        return metadata.map { one in
            if isSameText(one.containerIdentifier, client.containerIdentifier), let result = joined.next() {
                return result
            }
            let message = "The share is in the container \(one.containerIdentifier)."
            return (one, .failure(CKError(.invalidArguments, message: message)))
        }
    }

    /// Asks for access to shares. A success does not disclose whether there is such a share (B399).
    func requestAccess(_ urls: [URL]) async throws(CKError) -> [(id: URL, result: Result<Void, CKError>)] {
        let urls = Self.unique(urls)
        let options: CloudStore.Options = try client.opened().options
        var mistakes: [URL: CKError] = [:]
        for url in urls {
            do throws(CKError) { _ = try Self.token(of: url, options) } catch { mistakes[url] = error }
        }
        let valid = urls.filter { mistakes[$0] == nil }
        let results = try await join(valid, .requestAccess) {
            (try? Self.token(of: $0, options)) ?? ""
        } made: { _, _ in
        }
        var asked = results.makeIterator()
        return urls.compactMap { url in mistakes[url].map { (url, .failure($0)) } ?? asked.next() }
    }

    private func join<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ action: JoinSharesRequest.Action, token: (Item) -> String,
        made: @Sendable (Item, Answer) throws -> Value
    ) async throws(CKError) -> [(id: Item, result: Result<Value, CKError>)] {
        let tokens = items.map(token)
        return try await asking(.joinShares) { opened in
            guard !items.isEmpty else { return [] }
            let kept = KeptItems<Int, CKRecord.ID>(Array(items.indices), []) { itemErrors($0, .joinShares, opened) }
            let request = Request(
                database: DatabaseID(.shared),
                .joinShares(JoinSharesRequest(action, tokens: kept.saves.map { tokens[$0] })))
            let answer = try await submit(request, to: opened.store)
            var results = items.indices.map { index in
                Result<Value, CKError>.failure(
                    CKError(.serverResponseLost, message: "The result of share \(index) is not known."))
            }
            for (index, error) in kept.errors { results[index] = .failure(error) }
            for (index, result) in zip(kept.saves, answer.result.saves) {
                do {
                    _ = try result.get()
                    results[index] = .success(try made(items[index], answer))
                } catch {
                    results[index] = .failure(CKError(engine: error))
                }
            }
            return Array(zip(items, results).map { ($0, $1) })
        }
    }

    // MARK: Participants

    /// Returns participants to be added to shares, in the order of the lookups; a repeated lookup has one result.
    func shareParticipants(
        _ infos: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> [(id: CKUserIdentity.LookupInfo, result: Result<CKShare.Participant, CKError>)] {
        try await asking(.fetchShares) { opened in
            let snapshot = opened.store.newest
            let infos = Self.unique(infos)
            let errors = itemErrors(infos.count, .fetchShares, opened)
            return infos.enumerated().map { index, info in
                if let error = errors[index] { return (info, .failure(error)) }
                do { return (info, .success(try participant(info, in: snapshot))) } catch {
                    return (info, .failure(CKError(engine: error)))
                }
            }
        }
    }

    private func participant(
        _ info: CKUserIdentity.LookupInfo, in snapshot: StoreSnapshot
    ) throws -> CKShare.Participant {
        let identity: CKUserIdentity
        if let found = try snapshot.user(at: info.address(for: client.userRecordName)) {
            identity = try CKUserIdentity(
                found.person, of: found.name, in: snapshot, lookupInfo: info, for: client)
        } else if let id = info.userRecordID {
            throw CKError(.unknownItem, message: "No user has the record \(id.recordName).")
        } else {
            identity = CKUserIdentity(
                lookupInfo: info, nameComponents: nil, userRecordID: nil, hasiCloudAccount: false)
        }
        return CKShare.Participant(.init(identity: identity))
    }
}

extension Collection {
    /// Returns the results by ID, as clients get them.
    func byItem<ID: Hashable, Value>() -> [ID: Result<Value, Error>]
    where Element == (id: ID, result: Result<Value, CKError>) {
        var results: [ID: Result<Value, Error>] = [:]
        results.reserveCapacity(count)
        for (id, result) in self { results[id] = result.mapError { $0 } }
        return results
    }

    /// Returns the only value.
    func only<ID, Value>() throws -> Value where Element == (id: ID, result: Result<Value, CKError>) {
        for (_, result) in self { return try result.get() }
        throw CKError.noResult
    }
}
