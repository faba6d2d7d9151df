import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// The share that a record belongs to, with a user's membership in it.
struct RecordSharing {
    let share: ShareSavedEvent?
    /// The user's membership, which may have ended; nil if the user never was a member.
    let membership: Membership?
    /// The record and its ancestors, up to the root of the share if there is one; empty if the whole zone is shared.
    private(set) var chain: [RecordKey] = []
    /// The act that took the record out of its shares, in words; empty if it belongs to one.
    private(set) var losses: [String] = []
    /// The end of the user's membership, in words; nil if it has not ended.
    private let departure: String?
    /// The state of the share; nil if the record belongs to none, or to one that has ended.
    private let content: ShareState?
    private let userName: String
    private let isShare: Bool
    private let isRoot: Bool

    /// - Parameter user: the ordinal of the user; 0 if the state has none.
    init(
        _ record: RecordKey, of user: UInt64, in zone: String, of database: DatabaseID, _ state: ContainerState
    ) throws {
        let own = try state.shareState(of: record.name, in: zone, of: database)
        var number = try own?.number ?? state.trees.hierarchicalShare(of: record)
        if number == nil {
            number = try state.shareState(of: ShareState.zoneWideName, in: zone, of: database)?.number
        }
        let share = try number.flatMap { try state.trees.share($0) }
        self.share = share
        content = try share.flatMap { try state.shareState(of: $0.record.name, in: zone, of: database) }
        userName = try state.user(user)
        isShare = own != nil
        isRoot = share?.root.map { LogFilter.isSame($0, record.name) } ?? false
        let membership = try state.trees.memberships(of: user, in: record.zone).first { $0.share == number }
        self.membership = membership
        departure = try membership.flatMap { try $0.isGone ? Self.departure($0, of: user, state) : nil }
        if own == nil, share == nil || share?.root != nil {
            chain = try Self.chain(from: record, to: share?.root, state)
        }
        guard share == nil, let ordinal = try state.trees.databaseOrdinal(ofZone: record.zone) else { return }
        losses = try SharingLoss(state: state, database: ordinal).notes(on: chain)
    }

    /// Returns who ended a membership, in words.
    private static func departure(
        _ membership: Membership, of user: UInt64, _ state: ContainerState
    ) throws -> String {
        let offset = membership.changed.offset
        let commit = offset > state.log.floor.offset ? try state.log.commit(at: offset) : nil
        guard let header = try commit.map({ try Envelope(decoding: $0.payload).header }) else {
            return "has been no member since commit \(offset)"
        }
        if header.user == user { return "left it with commit \(offset)" }
        return "was removed from it by commit \(offset) (\(try state.actorText(header)))"
    }

    /// - Parameter root: the name of the last record; nil for the one without a parent.
    private static func chain(
        from record: RecordKey, to root: String?, _ state: ContainerState
    ) throws -> [RecordKey] {
        var chain = [record]
        var known: Set<RecordKey> = [record]
        var next = record
        while root.map({ !LogFilter.isSame(next.name, $0) }) ?? true {
            let parent = try state.trees.withRecord(next) { bytes in
                let view = try RecordStateView(bytes, in: 0..<bytes.count)
                return try view.links().parent.map { try view.key($0) }
            }
            guard let parent, let parent, known.insert(parent).inserted else { break }
            chain.append(parent)
            next = parent
        }
        return chain
    }

    /// The user's right to the record; nil if it is not shared with the user.
    var right: ShareRight? {
        guard let membership, membership.givesAccess else { return nil }
        return ShareRight(membership.permission, isRoot: isRoot, isShare: isShare)
    }

    /// The reason for the user's right, or for having none.
    var reason: String {
        guard let share else { return "the record belongs to no share" }
        let name = "share \(share.record.name)"
        guard let membership else { return reasonOfStranger(name) }
        if let departure { return reasonOfStranger(name) + ", and \(departure)" }
        return "the user's permission in \(name) is \(membership.permission.name), member since commit "
            + "\(membership.joined.offset)"
    }

    private func reasonOfStranger(_ name: String) -> String {
        if let participant = userName.isEmpty ? nil : content?.participant(ofUser: userName) {
            return "the user is invited to \(name), \(participant.permission.name), and has not accepted"
        }
        guard let content, content.publicPermission != .none else { return "the user is not a member of \(name)" }
        return "the user is not a member of \(name), which is public, \(content.publicPermission.name)"
    }
}
