import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// The share that a record belongs to, with a user's membership in it.
struct RecordSharing {
    let share: ShareSavedEvent?
    /// The user's membership, which may have ended; nil if the user never was a member.
    let membership: Membership?
    /// The record and its ancestors up to the root of the share; empty if a whole zone is shared or nothing is.
    private(set) var chain: [String] = []
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
        membership = try state.trees.memberships(of: user, in: record.zone).first { $0.share == number }
        if let root = share?.root, own == nil { chain = try Self.chain(from: record, to: root, state) }
    }

    private static func chain(from record: RecordKey, to root: String, _ state: ContainerState) throws -> [String] {
        var names = [record.name]
        var known: Set<RecordKey> = [record]
        var next = record
        while !LogFilter.isSame(next.name, root) {
            let parent = try state.trees.withRecord(next) { bytes in
                let view = try RecordStateView(bytes, in: 0..<bytes.count)
                return try view.links().parent.map { try view.key($0) }
            }
            guard let parent, let parent, known.insert(parent).inserted else { break }
            names.append(parent.name)
            next = parent
        }
        return names
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
        if membership.isGone {
            return reasonOfStranger(name) + ", and left it with commit \(membership.changed.offset)"
        }
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
