import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// An event that subscriptions may fire for.
struct SubscriptionTrigger {
    enum Subject {
        /// The key of the record's row; `state` is the version on which predicates are evaluated.
        case record(RecordKey, type: UInt64, Push.Reason, state: Version)
        /// A record that only got a new change tag, which counts only as a change of its zone.
        case touch(type: UInt64)
        case zone
        /// A record that came under a hierarchical share, changed there or left it, for the share's members.
        case sharedRecord(share: UInt64, type: UInt64)
        case member(MemberChangedEvent)
        case subscriptionSaved(SubscriptionSavedEvent)
        case subscriptionDeleted(SubscriptionDeletedEvent)
    }

    var subject: Subject
    /// The ordinal of the zone; 0 for subscriptions.
    var zone: UInt64
    var version: Version
    /// The user who caused it; 0 for the service.
    var user: UInt64
    var device: UInt64
    /// The time of the commit, in microseconds since 1970.
    var time: Int64

    /// Returns the relevant events of a commit, in order.
    ///
    /// - Parameter zone: the zone whose events are returned; nil for all.
    static func all(in commit: Commit, zone: UInt64? = nil) throws -> [SubscriptionTrigger] {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            var found: [SubscriptionTrigger] = []
            var index: UInt32 = 0
            while let event = try walker.next() {
                let version = Version(offset: commit.offset, eventIndex: index)
                index += 1
                guard let (subject, place) = try subject(event.kind, in: event.body, of: payload, version) else {
                    continue
                }
                if let zone, zone != place { continue }
                found.append(
                    SubscriptionTrigger(
                        subject: subject, zone: place, version: version, user: header.user, device: header.device,
                        time: commit.time))
            }
            return found
        }
    }

    private static func subject(
        _ kind: EventKind, in range: Range<Int>, of payload: UnsafeRawBufferPointer, _ version: Version
    ) throws -> (Subject, UInt64)? {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[range]))
        switch kind {
        case .recordSaved:
            let view = try RecordSavedView(payload, in: range)
            // The values of an erased save are gone, so predicates can no longer be evaluated on it.
            if view.change == .touch || view.isErased { return (.touch(type: view.type), view.zone) }
            let record = RecordKey(zone: view.zone, name: String(decoding: payload[view.name], as: UTF8.self))
            let reason: Push.Reason = view.change == .create ? .created : .updated
            return (.record(record, type: view.type, reason, state: version), view.zone)
        case .recordDeleted:
            let event = try RecordDeletedEvent(from: &reader)
            guard let previous = event.previous?.resolved(in: version.offset) else { return nil }
            return (.record(event.record, type: event.type, .deleted, state: previous), event.record.zone)
        case .recordErased:
            let event = try RecordErasedEvent(from: &reader)
            return event.previous == nil ? nil : (.touch(type: event.type), event.record.zone)
        case .zoneSaved, .zoneDeleted: return (.zone, try reader.readEventZone())
        case .sharedRecord:
            let event = try SharedRecordEvent(from: &reader)
            return (.sharedRecord(share: event.share, type: event.type), event.record.zone)
        case .memberChanged:
            let event = try MemberChangedEvent(from: &reader)
            return (.member(event), event.zone)
        case .subscriptionSaved: return (.subscriptionSaved(try SubscriptionSavedEvent(from: &reader)), 0)
        case .subscriptionDeleted: return (.subscriptionDeleted(try SubscriptionDeletedEvent(from: &reader)), 0)
        default: return nil
        }
    }
}
