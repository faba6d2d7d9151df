import StrataModel
import StrataStore
import StrataViews

/// A share with its participants.
struct ShareDetail {
    struct Participant {
        let entry: ShareParticipant
        /// The version of the event by which the user joined; nil before that.
        let joined: Version?
    }

    private let share: ShareSavedEvent
    private let database: DatabaseID
    private let zone: String
    /// Nil for a share that has ended.
    private let content: ShareState?
    private let participants: [Participant]

    var isEnded: Bool { share.isEnded }

    /// - Parameter number: the number of a share; the result is nil if there is none.
    init?(_ number: UInt64, in state: ContainerState) throws {
        guard let share = try state.trees.share(number) else { return nil }
        self.share = share
        (database, zone) = try state.trees.requiredZone(share.record.zone)
        content = share.isEnded ? nil : try state.shareState(of: share.record.name, in: zone, of: database)
        participants = try (content?.participants ?? []).map { entry in
            let user = entry.user.isEmpty ? nil : try state.trees.ordinal(of: .user(entry.user))
            let memberships = try user.map { try state.trees.memberships(of: $0, in: share.record.zone) } ?? []
            let membership = memberships.first { $0.share == number && !$0.isGone }
            return Participant(entry: entry, joined: membership?.joined)
        }
    }

    /// Returns true if a user owns the share or participates in it.
    func concerns(_ user: String) -> Bool {
        LogFilter.isSame(database.owner, user) || participants.contains { LogFilter.isSame($0.entry.user, user) }
    }

    // MARK: For people

    func write(to output: Output) throws {
        var lines = [("zone", "\(Printable.escaped(zone)), \(database.shownText)")]
        lines.append(("shares", share.root.map { "record \(Printable.escaped($0))" } ?? "the whole zone"))
        if let content {
            lines.append(("URL token", Printable.escaped(share.urlToken)))
            lines.append(("public", share.publicPermission.name))
            for participant in participants { lines.append(("participant", participant.text)) }
            let requesters = content.requesters.map { Printable.escaped($0) }
            if !requesters.isEmpty { lines.append(("asking", requesters.joined(separator: ", "))) }
            let blocked = content.blockedUsers.map { Printable.escaped($0) }
            if !blocked.isEmpty { lines.append(("blocked", blocked.joined(separator: ", "))) }
        } else {
            lines.append(("state", "ended"))
        }
        try Columns.write("share", share.record.name, lines, to: output)
    }
}

extension ShareDetail.Participant {
    fileprivate var text: String {
        let text = "\(entry.nameText), \(entry.role.name), \(entry.permission.name)"
        guard entry.role != .owner else { return text }
        return text + (joined.map { ", joined with commit \($0.offset)" } ?? ", not joined yet")
    }
}

extension ShareDetail: Shaped {
    static let shape = Shape<Self>("A share") {
        Key("share", "name of its record") { $0.share.record.name }
        Key("number", "its number") { $0.share.share }
        Key(of: DatabaseID.shape) { $0.database }
        Key("zone", "name of its zone") { $0.zone }
        Key("root", "name of the root record", if: "unless the whole zone is shared") { $0.share.root }
        Key("ended", "true if it has ended") { $0.share.isEnded }
        Key("token", "the token of its URL", if: "if it has not ended") { $0.isEnded ? nil : $0.share.urlToken }
        Key("publicPermission", "`none`, `read only` or `read and write`") { $0.share.publicPermission.name }
        Key("participants", "its participants, the owner first", each: participant) { $0.participants }
        Key("requesters", "names of the users who ask for access", if: "if it has not ended") { $0.content?.requesters }
        Key("blocked", "names of the users who may not ask", if: "if it has not ended") { $0.content?.blockedUsers }
    }

    private static let participant = Shape<Participant>("A participant of a share") {
        Key(of: ShareParticipant.shape) { $0.entry }
        Key("joined", "version of the event by which the user joined", if: "if the user has") { $0.joined }
    }
}

extension ContainerState {
    /// Returns the state of a share; nil if its record does not exist.
    func shareState(of name: String, in zone: String, of database: DatabaseID) throws -> ShareState? {
        let id = RecordID(name, zone: ZoneID(zone))
        guard case .success(let record)? = try snapshot.records([id], in: database, as: .service).first else {
            return nil
        }
        return try record.shareState
    }
}
