import StrataLog
import StrataModel

/// The shares that commits made, changed or ended; the latest of them in detail.
struct ReportShares {
    /// A share, with what the commits of the report did to it.
    struct Share {
        let record: RecordKey
        let root: String?
        /// The newest state that these commits have; nil if they have none.
        fileprivate(set) var state: ShareState?
        /// The offset of the commit that made the share; nil if the report does not have it.
        fileprivate(set) var made: UInt64?
        /// The offset of the commit that ended it; nil if none did.
        fileprivate(set) var ended: UInt64?
        fileprivate var changed: UInt64 = 0
    }

    /// The number of shares to list; others are only counted.
    static let mostTold = 20

    private(set) var madeCount: UInt64 = 0
    private(set) var endedCount: UInt64 = 0
    private(set) var joinedCount: UInt64 = 0
    private(set) var leftCount: UInt64 = 0
    /// True if there are more shares than are listed.
    private(set) var isCut = false
    /// True if what is known of shares that changed long ago was dropped.
    private(set) var hasForgotten = false
    private var shares: [RecordKey: Share] = [:]

    /// The share that changed last first.
    var told: [Share] {
        let sorted = shares.values.sorted {
            $0.changed == $1.changed ? $0.record.name < $1.record.name : $0.changed > $1.changed
        }
        return Array(sorted.prefix(Self.mostTold))
    }

    /// Adds the events of a commit that concern shares.
    ///
    /// - Parameters:
    ///   - names: the names interned up to the commit.
    ///   - zone: the name of the zones to consider; nil for all.
    mutating func add(_ commit: Commit, _ names: KnownNames, zone: String?) throws {
        func isWanted(_ ordinal: UInt64) -> Bool { zone == nil || names.zone(ordinal) == zone }
        for event in try Envelope(decoding: commit.payload).events {
            switch event.kind {
            case .recordSaved:
                let saved = try RecordSavedEvent(decoding: event.body)
                if isWanted(saved.record.zone) { add(saved, names, at: commit.offset) }
            case .shareSaved:
                let share = try ShareSavedEvent(decoding: event.body)
                if share.isEnded, isWanted(share.record.zone) { end(share, at: commit.offset) }
            case .memberChanged:
                let member = try MemberChangedEvent(decoding: event.body)
                guard isWanted(member.zone) else { continue }
                if member.isGone { leftCount += 1 } else if member.joined == nil { joinedCount += 1 }
            default: break
            }
        }
        guard shares.count > Self.mostTold else { return }
        isCut = true
        guard shares.count > Self.mostTold * 8 else { return }
        shares = Dictionary(uniqueKeysWithValues: told.map { ($0.record, $0) })
        hasForgotten = true
    }

    private mutating func add(_ saved: RecordSavedEvent, _ names: KnownNames, at offset: UInt64) {
        let value = saved.fields.first { names.field(UInt64($0.field)) == ShareState.key }?.value
        guard names.recordType(saved.type) == ShareState.recordType, let state = ShareState(value) else { return }
        let isMade = saved.change == .create
        // The record of a share that has ended can become that of another one.
        let known = isMade ? nil : shares[saved.record]
        shares[saved.record] = Share(
            record: saved.record, root: state.root, state: state, made: isMade ? offset : known?.made, changed: offset)
        if isMade { madeCount += 1 }
    }

    private mutating func end(_ event: ShareSavedEvent, at offset: UInt64) {
        var share = shares[event.record] ?? Share(record: event.record, root: event.root)
        (share.ended, share.changed) = (offset, offset)
        shares[event.record] = share
        endedCount += 1
    }
}
