import StrataModel
import StrataViews

/// Writes shares, with their participants, and the requests to join them.
extension MinimalTestWriter {
    private static let permissions: [SharePermission: String] = [
        .none: ".none", .readOnly: ".readOnly", .readWrite: ".readWrite",
    ]

    /// Writes the share of a save, and returns its variable; nil if it cannot be made.
    ///
    /// - Parameter roots: the variables of the other records of the request.
    mutating func writeShare(
        _ save: ModifyRecordsRequest.Save, _ request: MinimalRequest, _ place: SavePlace, roots: [RecordKey: String]
    ) -> String? {
        guard let change = save.sharing else { return nil }
        let names = request.request.names
        let id = record(save.record.name, in: names.zone(save.record.zone))
        let variable: String
        if let held = fetched[place] {
            variable = held
        } else {
            variable = self.names.variable(save.record.name, "\(request.offset)")
            let arguments: [String]
            if let root = change.root {
                guard let root = roots[RecordKey(zone: save.record.zone, name: root)] else {
                    leaveOut("the share \(save.record.name) that commit \(request.offset) saves without its root")
                    return nil
                }
                arguments = ["rootRecord: \(root)", "shareID: \(id)"]
            } else {
                arguments = ["recordZoneID: \(id).zoneID"]
            }
            call("let \(variable) = CKShare", arguments)
            participants[id] = [:]
        }
        writeFields(of: save, to: variable, names)
        if let list = change.participants { writeParticipants(list, to: variable, id, request) }
        if let permission = change.publicPermission {
            add("\(variable).publicPermission = \(Self.permissions[permission] ?? ".none")")
            if permission == .none { participants[id] = [:] }
        }
        if let allows = change.allowsAccessRequests { add("\(variable).allowsAccessRequests = \(allows)") }
        if !(change.denied.isEmpty && change.blocked.isEmpty && change.unblocked.isEmpty) {
            leaveOut("answers to those who ask for access, in commit \(request.offset)")
        }
        return variable
    }

    /// - Parameter id: the variable of the share's ID.
    private mutating func writeParticipants(
        _ list: [ShareChange.Participant], to share: String, _ id: String, _ request: MinimalRequest
    ) {
        let known = participants[id] ?? [:]
        var now: [String: ShareChange.Participant.Subject] = [:]
        for entry in list {
            now[entry.id] = entry.subject
            guard entry.subject != .oneTimeURL else {
                leaveOut("the one-time URL in commit \(request.offset)")
                continue
            }
            let guest = names.variable("guest", "\(request.offset)")
            if known[entry.id] != nil {
                find(entry.subject, as: guest, in: share)
            } else {
                let container = "store.container(\(Self.arguments(of: request.actor).joined(separator: ", ")))"
                let lookup = lookup(of: entry.subject)
                call("let \(guest) = try await \(container).shareParticipant", [lookup])
            }
            add("\(guest).permission = \(Self.permissions[entry.permission] ?? ".none")")
            if entry.role == .administrator { add("\(guest).role = .administrator") }
            if known[entry.id] == nil { add("\(share).addParticipant(\(guest))") }
        }
        for (_, subject) in known.filter({ now[$0.key] == nil }).sorted(by: { $0.key < $1.key })
        where subject != .oneTimeURL {
            let guest = names.variable("guest", "\(request.offset)")
            find(subject, as: guest, in: share)
            add("\(share).removeParticipant(\(guest))")
        }
        participants[id] = now
    }

    /// Writes the lookup of a participant whom the share has.
    private mutating func find(_ subject: ShareChange.Participant.Subject, as variable: String, in share: String) {
        let test =
            switch subject {
            case .user(let name): "userRecordID?.recordName == \(userID(name)).recordName"
            case .address(.email(let text)): "lookupInfo?.emailAddress == \(SwiftText.literal(text))"
            case .address(.phone(let text)): "lookupInfo?.phoneNumber == \(SwiftText.literal(text))"
            case .oneTimeURL: ""
            }
        call("let \(variable) = try #require", ["\(share).participants.first { $0.userIdentity.\(test) }"])
    }

    private mutating func lookup(of subject: ShareChange.Participant.Subject) -> String {
        switch subject {
        case .user(let name): "forUserRecordID: \(userID(name))"
        case .address(.email(let text)): "forEmailAddress: \(SwiftText.literal(text))"
        case .address(.phone(let text)): "forPhoneNumber: \(SwiftText.literal(text))"
        case .oneTimeURL: ""
        }
    }

    /// Returns the variable of the ID of a user's record.
    private mutating func userID(_ recordName: String) -> String {
        let user = history.recordNames.first { isSameText($0.value, recordName) }?.key.text
        return record(recordName, in: ZoneID(ZoneID.defaultName), named: user ?? recordName)
    }

    mutating func fetchShare(_ variable: String, _ id: String, from database: String) {
        call(
            "let \(variable) = try #require(try await \(database).record", ["for: \(id)"], suffix: " as? CKShare)")
    }

    // MARK: Members

    mutating func writeJoins(_ request: MinimalRequest, _ body: JoinSharesRequest) throws {
        let device = Self.arguments(of: request.actor).joined(separator: ", ")
        for share in request.shares {
            guard let share, !share.isByOneTimeURL,
                let owner = history.requests.first(where: { isSameText($0.actor.user, share.owner) })?.actor,
                let database = database(DatabaseID(.private), of: owner)
            else {
                leaveOut("a share that commit \(request.offset) joins")
                continue
            }
            let id = record(share.id.name, in: share.id.zone)
            let variable = names.variable(share.id.name, "\(request.offset)")
            fetchShare(variable, id, from: database)
            switch body.action {
            case .accept:
                let metadata = names.variable("metadata", "\(request.offset)")
                let opened = Self.arguments(of: request.actor).map {
                    $0.hasPrefix("user: ") ? "as: " + $0.dropFirst(6) : $0
                }
                call("let \(metadata) = try await store.console.open", ["try #require(\(variable).url)"] + opened)
                let attempt = request.outcome.kind == .accepted ? "try await" : "_ = try? await"
                add("\(attempt) store.container(\(device)).accept(\(metadata))")
            case .requestAccess:
                call(
                    "_ = try await store.container(\(device)).requestShareAccess",
                    ["for: [try #require(\(variable).url)]"])
            }
        }
    }

    /// Writes a user with their addresses; names of people decide nothing.
    mutating func writePerson(_ person: Person, _ user: String) {
        func list(_ texts: [String]) -> String { "[" + texts.map(SwiftText.literal).joined(separator: ", ") + "]" }
        var arguments = [SwiftText.literal(user)]
        if !person.emails.isEmpty { arguments.append("emails: \(list(person.emails))") }
        if !person.phones.isEmpty { arguments.append("phones: \(list(person.phones))") }
        call("try store.console.addUser", arguments)
    }
}
