import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Reads pages of a zone's feed for a member of hierarchical shares (docs/feeds.md §4).
///
/// A cursor says up to which of its changes the member has seen a share. A page moves the cursors on, the one that is
/// furthest behind first, until it is full.
struct MemberFeed {
    /// Records that were saved, and whose states are read together.
    private struct Waiting {
        private(set) var versions: [Version] = []
        private(set) var keys = KeyList()
        private var key = KeyWriter()

        var count: Int { versions.count }

        mutating func append(_ key: [UInt8], at version: Version) {
            versions.append(version)
            keys.append(key)
        }

        mutating func append(zone: UInt64, name: UnsafeRawBufferPointer, at version: Version) {
            key.removeAll()
            key.append(number: zone)
            key.append(lastRecordName: name)
            append(key.bytes, at: version)
        }

        mutating func removeAll() {
            versions.removeAll(keepingCapacity: true)
            keys.removeAll()
        }
    }

    /// The progress of reading shares for a page.
    private struct Reading {
        var page: ZoneFeedPage
        /// The last event that the page covers.
        let end: Version
        /// The offset at which the fetch began: the member has nothing that left a share up to there.
        let since: UInt64
        var deleted: Set<[UInt8]> = []
        var byteCount = 0
        var batches = StateBatches()
        var entriesRead = 0
    }

    /// The share of a cursor, and the membership by which the user has or had access to it.
    private struct Place {
        let share: ShareSavedEvent
        let member: Membership
    }

    let feed: ZoneFeed
    let zone: MemberZone

    private var trees: Snapshot { feed.trees }

    func page(since token: FeedToken?) throws -> ZoneFeedPage {
        let position = try feed.position(feed.end)
        var reading = Reading(
            page: ZoneFeedPage(token: feed.token(position, .whole, [])),
            end: Version(offset: position.offset, eventIndex: UInt32(1 << Version.eventBits - 1)),
            since: try start(token) ?? position.offset)
        let members = Dictionary(zone.zone.memberships.map { ($0.share, $0) }) { $1 }
        var cursors: [FeedToken.ShareCursor] = []
        for var cursor in self.cursors(token) {
            if !reading.page.moreComing, let member = members[cursor.share] {
                reading.page.moreComing = try !read(&cursor, member, &reading)
                // All of a share that ended was reported.
                if !reading.page.moreComing, cursor.membership == member.ended { continue }
            }
            cursors.append(cursor)
        }
        cursors.sort { $0.share < $1.share }
        let isWhole = !reading.page.moreComing && cursors.allSatisfy { $0.through >= reading.end }
        reading.page.token = feed.token(position, isWhole ? .whole : .shares(since: reading.since), cursors)
        return reading.page
    }

    /// Returns the offset at which the fetch began; nil if it begins with this page.
    private func start(_ token: FeedToken?) throws -> UInt64? {
        switch token?.progress {
        case nil: nil
        case .whole?: token?.position.offset
        case .shares(let since)?: since
        default: throw FeedToken.otherShares
        }
    }

    /// Returns the cursors of a token and of the shares that are new to the member, those furthest behind first. Shares
    /// are listed before they are read: a record that one of them shows is not reported as deleted, so the end of that
    /// access must be noticed.
    private func cursors(_ token: FeedToken?) -> [FeedToken.ShareCursor] {
        var cursors = token?.cursors ?? []
        let known = Set(cursors.map(\.share))
        for member in zone.zone.current where !known.contains(member.share) {
            cursors.append(.init(share: member.share, membership: member.joined))
        }
        return cursors.sorted { ($0.through, $0.share) < ($1.through, $1.share) }
    }

    // MARK: One share

    /// Moves a cursor to the end of its share; returns false once the page is full.
    private func read(
        _ cursor: inout FeedToken.ShareCursor, _ member: Membership, _ reading: inout Reading
    ) throws -> Bool {
        guard let share = try trees.share(cursor.share), share.root != nil else { throw FeedToken.otherShares }
        // A change of the access that is not durable belongs to a later page.
        guard (member.ended ?? member.joined) <= reading.end else { return true }
        let place = Place(share: share, member: member)
        guard try readChanges(of: place, &cursor, &reading) else { return false }
        guard let ended = member.ended else { return true }
        if cursor.membership != ended {
            cursor = .init(share: cursor.share, membership: ended)
            guard try readChanges(of: place, &cursor, &reading) else { return false }
        }
        // A later share can have the name.
        if try zone.visible.includes(share.record, in: trees) { return true }
        return takeDeletion(of: share.record.name, ShareState.recordType, &reading)
    }

    /// Takes the changes of a share's records, and of its own record, in the order of their versions; returns false
    /// once the page is full.
    private func readChanges(
        of place: Place, _ cursor: inout FeedToken.ShareCursor, _ reading: inout Reading
    ) throws -> Bool {
        var waiting = Waiting()
        var ownVersion: Version?
        if place.member.ended == nil {
            ownVersion = try trees.withRecord(place.share.record) { try RecordStateView($0, in: 0..<$0.count).version }
        }
        if let own = ownVersion, own <= cursor.through || own > reading.end { ownVersion = nil }
        var isFull = false
        try trees.forEachEncodedChange(ofShare: cursor.share, after: cursor.through) { version, event in
            if version > reading.end { return false }
            if let own = ownVersion, own < version {
                waiting.append(place.share.record.viewKey, at: own)
                ownVersion = nil
            }
            isFull = reading.entriesRead >= ZoneFeed.maximumEntriesRead
            if isFull { return false }
            reading.entriesRead += 1
            let (zone, name, isGone) = try SharedRecordEvent.look(at: event)
            if place.member.ended == nil, !isGone {
                let name = UnsafeRawBufferPointer(rebasing: event[name])
                waiting.append(zone: zone, name: name, at: version)
                if waiting.count >= room(reading.page) { isFull = try !take(&waiting, &cursor, &reading) }
            } else {
                var bytes = ByteReader(event)
                let event = try SharedRecordEvent(from: &bytes)
                let goesOn = try take(&waiting, &cursor, &reading)
                isFull = try !goesOn || !takeGone(event, at: version, by: cursor, of: place, &reading)
                if !isFull { cursor.through = version }
            }
            return !isFull
        }
        if let own = ownVersion, !isFull { waiting.append(place.share.record.viewKey, at: own) }
        guard try take(&waiting, &cursor, &reading), !isFull else { return false }
        cursor.through = max(cursor.through, reading.end)
        return true
    }

    /// The maximum number of changes whose records are read together, so that no more are read than may be needed.
    private func room(_ page: borrowing ZoneFeedPage) -> Int {
        min(Snapshot.keysTogether, max(1, feed.limit + 1 - page.changed.count - page.deleted.count))
    }

    /// Takes records, in order, and removes them from those that wait; returns false once the page is full.
    private func take(
        _ waiting: inout Waiting, _ cursor: inout FeedToken.ShareCursor, _ reading: inout Reading
    ) throws -> Bool {
        if waiting.count == 0 { return true }
        defer { waiting.removeAll() }
        return try trees.getEach(ViewTree.records, waiting.keys, in: waiting.keys.indices) { index, state in
            if let state {
                if isFull(reading) { return false }
                reading.byteCount += state.count
                try waiting.keys.withKey(index) { key in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    try PackedName.withName(of: try reader.readLastText()) {
                        reading.page.changed.append(try feed.record($0, state, &reading.batches))
                    }
                }
            }
            cursor.through = waiting.versions[index]
            return true
        }
    }

    // MARK: Records that are no longer visible

    /// Takes a record that left a share, or that stayed in a share that the member left; returns false if the page is
    /// full.
    private func takeGone(
        _ event: SharedRecordEvent, at version: Version, by cursor: FeedToken.ShareCursor, of place: Place,
        _ reading: inout Reading
    ) throws -> Bool {
        // Until the cursor is at the end of the access it reads what left the share, then what stayed.
        let isAtEnd = cursor.membership == place.member.ended
        if event.isGone == isAtEnd { return true }
        if event.isGone {
            // The member never had a record that left before, or with, the beginning of the access.
            if version.offset <= max(place.member.joined.offset, reading.since) { return true }
        } else if let ended = place.member.ended, version.offset >= ended.offset {
            // It may have come into the share by the commit that ended the access.
            throw FeedToken.changedAfterAccess
        }
        if try zone.visible.includes(event.record, in: trees) { return true }
        let type = try feed.snapshot.names.text(.recordType, event.type, in: trees)
        return takeDeletion(of: event.record.name, type, &reading)
    }

    private func isFull(_ reading: Reading) -> Bool {
        reading.page.changed.count + reading.page.deleted.count >= feed.limit
            || reading.byteCount >= ZoneFeed.maximumPageBytes
    }

    private func takeDeletion(of name: String, _ type: String, _ reading: inout Reading) -> Bool {
        if reading.deleted.contains(Array(name.utf8)) { return true }
        if isFull(reading) { return false }
        reading.deleted.insert(Array(name.utf8))
        reading.page.deleted.append(.init(id: RecordID(name, zone: feed.origin.zone), type: type))
        return true
    }
}
