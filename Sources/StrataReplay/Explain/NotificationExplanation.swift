import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// Explains which subscriptions were considered for a commit, which fired, and why the others did not.
///
/// The notifier's own code decides whether one fires, on the state that the commit made.
///
/// ```swift
/// let why = try NotificationExplanation.of(4_711, in: store, user: "anna", device: "phone")
/// for one in why.subscriptions where !one.fires { print(one.subscription.id, one.findings.map(\.verdict)) }
/// ```
package struct NotificationExplanation: Sendable {
    /// A device of a user whose subscriptions were considered.
    package struct Device: Sendable, Hashable {
        package let user: String
        package let name: String
        /// True if the commit came from this device, which is therefore not notified.
        package let isOrigin: Bool
        /// True if the device had been seen by then.
        package let isKnown: Bool
        /// The offset up to which it was notified, as noted in the log; nil if it never was.
        package let toldThrough: UInt64?
        /// The offset of the commit that noted that it was notified of this one; nil if none has.
        package fileprivate(set) var notedBy: UInt64?
    }

    /// The offset of the commit.
    package let offset: UInt64
    /// Microseconds since 1970.
    package let time: Int64
    /// The actor of the commit; the service has no name.
    package let actor: Actor
    /// The changes of the commit that subscriptions may report.
    package let changes: [SubscriptionEvaluation.Change]
    package let subscriptions: [SubscriptionEvaluation]
    /// The devices of the users whose subscriptions were considered.
    package let devices: [Device]
    package let notes: [String]

    /// - Parameters:
    ///   - user: limits the result to this user's subscriptions.
    ///   - device: limits the result to this device.
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store does not have; ``Refusal`` for a user or a
    ///   device that the store does not know.
    package static func of(
        _ offset: UInt64, in store: Store, user: String? = nil, device: String? = nil
    ) throws -> NotificationExplanation {
        let commit = try ExplainedCommit(offset, in: store)
        let trees = store.snapshot().trees
        if let user, try trees.ordinal(of: .user(user)) == nil {
            throw Refusal(.unknownItem, "The store has no user '\(user)'.")
        }
        let past = try store.asOf(offset)
        defer { try? past.close() }
        let (changes, subscriptions) = try past.consideredSubscriptions(
            for: commit.commit, knownTo: store, of: user)
        let header = commit.envelope.header
        var users = user.map { [$0] } ?? []
        if user == nil {
            for one in subscriptions where !users.contains(where: { $0.utf8.elementsEqual(one.user.utf8) }) {
                users.append(one.user)
            }
        }
        var found: [(ordinal: UInt64, device: Device)] = []
        for user in users { found += try Self.devices(of: user, named: device, header.device, offset, trees) }
        try noteDeliveries(of: offset, in: store.log, to: &found)
        let devices = found.map(\.device)
        if let device, devices.isEmpty {
            throw Refusal(.unknownItem, "The store has no device '\(device)' of \(user ?? "any user").")
        }
        var notes: [String] = []
        if changes.isEmpty {
            notes.append("The commit changed no record or zone, so there is nothing to notify about.")
        }
        if subscriptions.isEmpty { notes.append("None of the selected users had a subscription.") }
        return NotificationExplanation(
            offset: offset, time: commit.commit.time, actor: try trees.namedActor(of: header), changes: changes,
            subscriptions: subscriptions, devices: devices, notes: notes)
    }

    private static func devices(
        of user: String, named only: String?, _ origin: UInt64, _ offset: UInt64, _ trees: Snapshot
    ) throws -> [(ordinal: UInt64, device: Device)] {
        guard let ordinal = try trees.ordinal(of: .user(user)) else { return [] }
        var devices: [(UInt64, Device)] = []
        try trees.forEachDevice(of: ordinal) { device in
            guard let name = try trees.device(device) else { return true }
            if let only, !only.utf8.elementsEqual(name.utf8) { return true }
            let sight = try trees.firstSight(of: device)
            let found = Device(
                user: user, name: name, isOrigin: device == origin, isKnown: sight.map { $0.offset <= offset } ?? false,
                toldThrough: try trees.delivery(to: device)?.through)
            devices.append((device, found))
            return true
        }
        return devices
    }

    /// Finds the commits that noted that devices were notified of a commit, among those after it.
    private static func noteDeliveries(
        of offset: UInt64, in log: any EventLog, to devices: inout [(ordinal: UInt64, device: Device)]
    ) throws {
        var waiting = Set(
            devices.filter { one in
                one.device.isKnown && !one.device.isOrigin && one.device.toldThrough ?? 0 >= offset
            }.map(\.ordinal))
        guard !waiting.isEmpty else { return }
        var cursor = try log.read(from: offset + 1)
        while !waiting.isEmpty, let commit = try cursor.next() {
            try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    guard event.kind == .notificationDelivered else { continue }
                    let body = commit.payload.dropFirst(event.body.lowerBound).prefix(event.body.count)
                    let noted = try NotificationDeliveredEvent(decoding: body)
                    guard noted.through >= offset, waiting.remove(noted.device) != nil else { continue }
                    for index in devices.indices where devices[index].ordinal == noted.device {
                        devices[index].device.notedBy = commit.offset
                    }
                }
            }
        }
    }
}

extension NameResolver {
    /// Returns the user and the device that a commit names. The user's name is empty if the commit names none: it is
    /// the service's, or its client was not signed in.
    func namedActor(of header: EnvelopeHeader) throws -> Actor {
        let actor = header.user == 0 ? nil : try actor(of: header)
        return actor ?? Actor(user: "", device: "")
    }
}
