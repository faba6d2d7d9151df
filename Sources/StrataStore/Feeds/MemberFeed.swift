import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Reads pages of a zone's feed for a member of hierarchical shares (docs/feeds.md §4).
///
/// The shares are read one after another, in the order of their numbers. Of each share, the changes after the *base*
/// and up to the *target* are read: the member has seen the share up to the base, and the target is the same for all
/// pages of a fetch.
struct MemberFeed {
    private typealias Phase = FeedToken.ShareProgress.Phase
    /// Changes of a share whose records are read together.
    private struct Waiting {
        var versions: [Version] = []
        /// The keys of the records.
        var keys = KeyList()
        /// The events by which records left, by their index. Of the other records only the keys are needed.
        private var gone: [Int: SharedRecordEvent] = [:]
        private var key = KeyWriter()

        var count: Int { versions.count }

        /// - Parameter isEnd: true if the access to the share has ended, so that all records left.
        mutating func append(_ encoded: UnsafeRawBufferPointer, at version: Version, isEnd: Bool) throws {
            let (zone, name, isGone) = try SharedRecordEvent.look(at: encoded)
            if isEnd || isGone {
                var reader = ByteReader(encoded)
                gone[count] = try SharedRecordEvent(from: &reader)
            }
            versions.append(version)
            key.removeAll()
            key.append(number: zone)
            key.append(lastName: UnsafeRawBufferPointer(rebasing: encoded[name]))
            keys.append(key.bytes)
        }

        func gone(_ index: Int) -> SharedRecordEvent? { gone.isEmpty ? nil : gone[index] }

        mutating func removeAll() {
            versions.removeAll(keepingCapacity: true)
            keys.removeAll()
            gone = [:]
        }
    }

    let feed: ZoneFeed
    let zone: MemberZone

    private var shared: SharedZone { zone.zone }

    /// The progress of reading shares for a page.
    private struct Reading {
        var page: ZoneFeedPage
        var base: UInt64
        var target: Position
        /// All memberships in the zone, by share.
        let members: [UInt64: Membership]
        /// The shares that the member knows, with the versions by which the member joined them. Those to which the
        /// member has access are among them from the first page on: a record that one of them shows is not reported as
        /// deleted, so the end of that access must be noticed.
        var known: [UInt64: Version]
        var resume: FeedToken.ShareProgress?
        var deleted: Set<[UInt8]> = []
        var byteCount = 0
        var batches = StateBatches()
        var entriesRead = 0
        /// The last place that is completely in the page.
        var last: FeedToken.ShareProgress

        /// The last version that the member has seen of known shares.
        var baseVersion: Version { Version(offset: base, eventIndex: MemberFeed.lastEvent) }
        /// The known shares as a token has them.
        var list: [FeedToken.KnownShare] {
            known.sorted { $0.key < $1.key }.map { .init(share: $0.key, joined: $0.value) }
        }
    }

    private var trees: Snapshot { feed.trees }

    func page(since token: FeedToken?) throws -> ZoneFeedPage {
        var reading = try reading(token)
        for number in reading.known.keys.sorted() where number >= reading.resume?.share ?? 0 {
            guard try read(number, &reading) else {
                reading.page.token = feed.token(reading.target, .sharesBefore(reading.last), knowing: reading.list)
                reading.page.moreComing = true
                return reading.page
            }
        }
        reading.page.token = feed.token(reading.target, .whole, knowing: reading.list)
        reading.page.moreComing = try hasNews(reading)
        return reading.page
    }

    private func reading(_ token: FeedToken?) throws -> Reading {
        var (base, target) = (token?.position.offset ?? 0, try feed.position(feed.end))
        var resume: FeedToken.ShareProgress?
        switch token?.progress {
        case nil, .whole?: break
        case .sharesBefore(let progress)?: (base, target, resume) = (progress.base, token?.position ?? target, progress)
        default: throw FeedToken.expired("it belongs to a share of the whole zone")
        }
        var known = Dictionary((token?.knownShares ?? []).map { ($0.share, $0.joined) }) { $1 }
        for member in shared.current where known[member.share] == nil { known[member.share] = member.joined }
        let start = FeedToken.ShareProgress(
            base: base, share: 0, phase: .begins, through: Version(offset: base, eventIndex: 0))
        return Reading(
            page: ZoneFeedPage(token: feed.token(target, .whole, knowing: [])), base: base, target: target,
            members: Dictionary(shared.memberships.map { ($0.share, $0) }) { $1 }, known: known, resume: resume,
            last: resume ?? start)
    }

    // MARK: One share

    /// Returns false once the page is full.
    private func read(_ number: UInt64, _ reading: inout Reading) throws -> Bool {
        guard let member = reading.members[number], let share = try trees.share(number) else {
            reading.known[number] = nil
            return true
        }
        let resume = reading.resume.flatMap { $0.share == number ? $0 : nil }
        let phase: Phase
        if shared.hierarchies[number] == nil {
            phase = .end
        } else {
            // Access that began after the target belongs to the next fetch.
            if member.joined.offset > reading.target.offset { return true }
            phase = member.joined.offset > reading.base ? .content : .changes
        }
        var start = phase == .changes ? reading.baseVersion : Version(offset: 0, eventIndex: Self.lastEvent)
        if let resume, resume.phase == phase { start = resume.through }
        let isNew = resume?.phase != phase
        reading.last = .init(base: reading.base, share: number, phase: isNew ? .begins : phase, through: start)
        if isNew {
            guard try takeShare(share, phase, &reading) else { return false }
            reading.last.phase = phase
        }
        var goesOn = true
        var waiting = Waiting()
        try trees.forEachEncodedChange(ofShare: number, after: start) { version, event in
            if phase != .end, version.offset > reading.target.offset { return false }
            guard reading.entriesRead < ZoneFeed.maximumEntriesRead else {
                goesOn = false
                return false
            }
            reading.entriesRead += 1
            try waiting.append(event, at: version, isEnd: phase == .end)
            if waiting.count < room(reading.page) { return true }
            goesOn = try take(&waiting, of: share, member, phase, &reading)
            return goesOn
        }
        if waiting.count > 0, !(try take(&waiting, of: share, member, phase, &reading)) { return false }
        if goesOn, phase == .end { reading.known[number] = nil }
        return goesOn
    }

    private static let lastEvent = UInt32(1 << Version.eventBits - 1)

    /// Takes the share's own record; returns false if the page is full.
    private func takeShare(_ share: ShareSavedEvent, _ phase: Phase, _ reading: inout Reading) throws -> Bool {
        if phase == .end {
            // A later share can have the name.
            if try zone.visible.includes(share.record, in: trees) { return true }
            return takeDeletion(of: share.record.name, ShareState.recordType, &reading)
        }
        return try trees.withRecord(share.record) { state in
            let version = try RecordStateView(state, in: 0..<state.count).version.offset
            guard version <= reading.target.offset, phase == .content || version > reading.base else { return true }
            var name = share.record.name
            return try name.withUTF8 { try take(UnsafeRawBufferPointer($0), state, &reading) }
        } ?? true
    }

    /// The maximum number of changes whose records are read together, so that no more are read than may be needed.
    private func room(_ page: borrowing ZoneFeedPage) -> Int {
        min(Snapshot.keysTogether, max(1, feed.limit + 1 - page.changed.count - page.deleted.count))
    }

    /// Takes changes of a share, in order, and removes them; returns false once the page is full.
    private func take(
        _ changes: inout Waiting, of share: ShareSavedEvent, _ member: Membership, _ phase: Phase,
        _ reading: inout Reading
    ) throws -> Bool {
        defer { changes.removeAll() }
        return try trees.getEach(ViewTree.records, changes.keys, in: changes.keys.indices) { index, state in
            let version = changes.versions[index]
            var goesOn = true
            if let gone = changes.gone(index) {
                goesOn = try takeGone(gone, at: version, of: share, member, phase, &reading)
            } else if let state {
                goesOn = try changes.keys.withKey(index) { key in
                    var reader = KeyReader(key)
                    _ = try reader.readNumber()
                    return try take(reader.readLastText(), state, &reading)
                }
            }
            if goesOn { reading.last.through = version }
            return goesOn
        }
    }

    /// Takes a record that the member may no longer see; returns false if the page is full.
    private func takeGone(
        _ event: SharedRecordEvent, at version: Version, of share: ShareSavedEvent, _ member: Membership,
        _ phase: Phase, _ reading: inout Reading
    ) throws -> Bool {
        let name = event.record.name
        // A record that left before the member joined was never visible.
        if event.isGone, version <= max(member.joined, reading.baseVersion) { return true }
        // In a share that is new to the member, only records that another share had shown can be known; at a base of 0
        // nothing had been shown.
        if phase == .content, reading.base == 0 { return true }
        if isDoubtful(event, version, member), !(try wasKnown(name, share, member, reading)) {
            return true
        }
        if try zone.visible.includes(event.record, in: trees) { return true }
        let type = try feed.snapshot.names.text(.recordType, event.type, in: trees)
        return takeDeletion(of: name, type, &reading)
    }

    private func isFull(_ reading: Reading) -> Bool {
        reading.page.changed.count + reading.page.deleted.count >= feed.limit
            || reading.byteCount >= ZoneFeed.maximumPageBytes
    }

    private func take(
        _ keyName: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, _ reading: inout Reading
    ) throws -> Bool {
        if isFull(reading) { return false }
        reading.byteCount += state.count
        let record = try feed.record((keyName, .init(start: nil, count: 0)), state, &reading.batches)
        reading.page.changed.append(record)
        return true
    }

    private func takeDeletion(of name: String, _ type: String, _ reading: inout Reading) -> Bool {
        if reading.deleted.contains(Array(name.utf8)) { return true }
        if isFull(reading) { return false }
        reading.deleted.insert(Array(name.utf8))
        reading.page.deleted.append(.init(id: RecordID(name, zone: feed.origin.zone), type: type))
        return true
    }

    // MARK: Records that the member may never have seen

    /// Returns true if a record may have come into a share after the end of the access.
    private func isDoubtful(_ event: SharedRecordEvent, _ version: Version, _ member: Membership) -> Bool {
        guard let ended = member.ended else { return false }
        return version.offset > ended.offset || version.offset == ended.offset && !event.isGone
    }

    /// Returns true if a record was in the share at the base, at the target or at the end of the access: otherwise the
    /// member cannot have it.
    private func wasKnown(
        _ name: String, _ share: ShareSavedEvent, _ member: Membership, _ reading: Reading
    ) throws -> Bool {
        guard let root = share.root, let ended = member.ended, ended.offset > 0 else { return false }
        let record = RecordKey(zone: share.record.zone, name: name)
        return try Set([reading.base, reading.target.offset, ended.offset - 1]).contains {
            try $0 >= member.joined.offset && $0 < ended.offset
                && feed.snapshot.isBelow(root, record, asOf: $0, trees)
        }
    }

    // MARK: What comes next

    /// Returns true if the member has something to fetch after the target.
    private func hasNews(_ reading: Reading) throws -> Bool {
        let target = reading.target.offset
        if target >= feed.end { return false }
        if reading.known.keys.contains(where: { shared.hierarchies[$0] == nil }) { return true }
        return try zone.shares.contains { share in
            if let joined = reading.known[share.share], joined.offset > target { return joined.offset <= feed.end }
            let last = try trees.withRecord(share.record) { try RecordStateView($0, in: 0..<$0.count).version.offset }
            if let last, last > target, last <= feed.end { return true }
            var hasChange = false
            let after = Version(offset: target, eventIndex: Self.lastEvent)
            try trees.forEachChange(ofShare: share.share, after: after) { version, _ in
                hasChange = version.offset <= feed.end
                return false
            }
            return hasChange
        }
    }
}
