import StrataModel

/// What a request asked for, in words.
extension Request {
    /// Returns the words; nil for a request for records, which its items describe.
    ///
    /// - Parameter reveals: true for words with the tokens of URLs and with addresses.
    package func sentence(reveals: Bool) -> String? {
        switch content {
        case .modifyRecords: return nil
        case .modifyZones(let body):
            return Self.changes(of: "zone", body.saves.map { zoneName($0.zone) }, body.deletes.map { zoneName($0) })
        case .modifySubscriptions(let body):
            return Self.changes(of: "subscription", body.saves.map(\.id), body.deletes)
        case .joinShares(let body):
            return "join \(body.tokens.count) shares by their URLs" + (reveals ? ": " + Self.list(body.tokens) : "")
        case .declareSchema: return "declare a schema"
        case .notify(let body):
            return
                "note \(body.deliveries.count) deliveries to \(body.user) and \(body.fired.count) subscriptions that fired"
        case .administer(let body): return sentence(of: body, reveals)
        }
    }

    private func zoneName(_ ordinal: UInt64) -> String { names.zone(ordinal)?.name ?? "" }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func changes(of kind: String, _ saves: [String], _ deletes: [String]) -> String {
        [("save", saves), ("delete", deletes)].filter { !$0.1.isEmpty }
            .map { "\($0.0) the \(kind)\($0.1.count == 1 ? "" : "s") \(list($0.1))" }.joined(separator: ", ")
    }

    private func sentence(of body: AdministerRequest, _ reveals: Bool) -> String {
        switch body {
        case .purgeZone(let zone): "purge the zone \(zoneName(zone))"
        case .resetEncryptedData: "reset the encrypted data"
        case .setAccountStatus(let status, let user): "set the account of \(user) to \(status)"
        case .setQuota(let bytes, let user): bytes == 0 ? "end the quota of \(user)" : "give \(user) \(bytes) bytes"
        case .expireTokens(let before, let inAll):
            "expire the tokens before commit \(before)" + (inAll ? " in all databases" : "")
        case .note(let note): "note: \(note.text)"
        case .eraseRecords(let records, let reason): "erase \(records.count) records: \(reason)"
        case .setPerson(let person, let user, _):
            "set the names and addresses of \(user)" + (reveals ? ": " + Self.list(person.emails + person.phones) : "")
        case .addAddress(let address, let user): "add an address of \(user)" + (reveals ? ": \(address)" : "")
        case .setRole(let role, let users): "give the role \(role) to \(users.isEmpty ? "no one" : Self.list(users))"
        case .setDiscoverability(let answer, let user): "set the discoverability of \(user) to \(answer)"
        case .drawSecret: "draw the secret"
        }
    }
}

extension RequestShape {
    /// True if the shape may have tokens of URLs, or addresses of people.
    package var mayHaveAddresses: Bool {
        if kind == .administer || kind == .joinShares || !shareChanges.isEmpty { return true }
        guard case .modifyRecords(let body)? = request?.content else { return false }
        return body.saves.contains { $0.sharing != nil }
    }
}
