import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// The end of a record or a zone that a state no longer has: the event that took it, and who made its commit.
struct Ending {
    enum Cause {
        case deleted
        /// Deleted with another record, which is named if it is the only one that the commit was to delete.
        case cascade(from: String?)
        case erased
        /// Deleted with its zone, or the zone itself.
        case zone(ZoneDeletionReason)
    }

    let offset: UInt64
    let cause: Cause
    /// `anna on phone`; nil if the commit was compacted.
    let actor: String?
    /// The commit that erased the values of a record that did not exist any more; nil if they were not.
    private(set) var erasedBy: UInt64?

    // MARK: Finding it

    /// Returns the end of a record; nil if the state has it, or if the log does not show that it existed. Reads the
    /// record's last entries in the change lists.
    static func of(_ record: RecordKey, in database: UInt64, _ state: ContainerState) throws -> Ending? {
        guard try state.trees.withRecord(record, { _ in }) == nil else { return nil }
        return try ifReadable {
            let (log, name) = (state.log, Array(record.name.utf8))
            var (end, erasedBy): (UInt64, UInt64?) = (state.snapshot.offset, nil)
            while end > log.floor.offset {
                let last = try log.lastTouches(record: name, in: record.zone, through: end, limit: 1)
                guard last.count > 0 else { break }
                let page = try log.touches(record: name, in: record.zone, after: last.first - 1, limit: 1)
                guard let touch = page.touches.last(where: { $0.offset == last.first }) else { return nil }
                guard touch.kind == .recordDeleted else {
                    return try ofZone(record.zone, in: database, after: touch.offset, state)?.erased(by: erasedBy)
                }
                let version = Version(offset: touch.offset, eventIndex: touch.eventIndex)
                if let ending = try made(by: version, state) { return ending.erased(by: erasedBy) }
                // It erased a record that had ended before.
                (end, erasedBy) = (touch.offset - 1, erasedBy ?? touch.offset)
            }
            // Reading the base takes long, and few zones were deleted.
            guard let ending = try ofZone(record.zone, in: database, after: log.floor.offset, state),
                try BaseRecords(log).state(of: record) != nil
            else { return nil }
            return ending.erased(by: erasedBy)
        }
    }

    /// Returns the end of a zone; nil if it exists, or never did.
    static func ofZone(_ zone: UInt64, in database: UInt64, _ state: ContainerState) throws -> Ending? {
        guard let row = try state.trees.zoneRow(database, zone), row.status != .alive else { return nil }
        return try ifReadable { try made(by: row.version, state) }
            ?? Ending(offset: row.version.offset, cause: .zone(.deleted), actor: nil)
    }

    /// Returns the end of a zone in which a record was saved.
    private static func ofZone(
        _ zone: UInt64, in database: UInt64, after offset: UInt64, _ state: ContainerState
    ) throws -> Ending? {
        guard let row = try state.trees.zoneRow(database, zone) else { return nil }
        if row.status != .alive, row.incarnation.offset <= offset { return try made(by: row.version, state) }
        // The zone was created again.
        let deletion = try state.log.zoneDeletion(of: zone, after: offset, through: row.incarnation.offset)
        return try deletion.flatMap { try made(by: $0, state) }
    }

    /// Returns nil for the event of a record that did not exist.
    private static func made(by version: Version, _ state: ContainerState) throws -> Ending? {
        guard version.offset > state.log.floor.offset, let commit = try state.log.commit(at: version.offset) else {
            return nil
        }
        let envelope = try Envelope(decoding: commit.payload)
        guard envelope.events.indices.contains(Int(version.eventIndex)) else { return nil }
        let event = envelope.events[Int(version.eventIndex)]
        let cause: Cause
        switch try event.described() {
        case let deleted as RecordDeletedEvent:
            cause = try deleted.isCascade ? .cascade(from: origin(of: envelope)) : .deleted
        case let erased as RecordErasedEvent:
            guard erased.previous != nil else { return nil }
            cause = .erased
        case let deleted as ZoneDeletedEvent: cause = .zone(deleted.reason)
        default: return nil
        }
        return Ending(offset: version.offset, cause: cause, actor: try state.actorText(envelope.header))
    }

    /// Returns the only record that a commit was to delete.
    private static func origin(of envelope: Envelope) throws -> String? {
        var names: [String] = []
        for event in envelope.events where event.kind == .recordDeleted {
            let deleted = try RecordDeletedEvent(decoding: event.body)
            if !deleted.isCascade { names.append(deleted.record.name) }
        }
        return names.count == 1 ? names[0] : nil
    }

    /// Returns nil where damage or a compaction hides the end, which only explains an error.
    private static func ifReadable(_ body: () throws -> Ending?) throws -> Ending? {
        do { return try body() } catch let error as StrataError
            where error.isDamage || [.outOfRange, .malformed].contains(error.code)
        { return nil }
    }

    private func erased(by offset: UInt64?) -> Ending {
        var ending = self
        ending.erasedBy = offset
        return ending
    }

    // MARK: Words

    private var commitText: String { "commit \(offset)" + (actor.map { " (\($0))" } ?? "") }

    /// The last offset whose state has it; nil if that was compacted away.
    private var before: UInt64? { actor == nil ? nil : offset - 1 }

    /// `was deleted by commit 12 (anna on phone)`.
    func predicate(ofZone isZone: Bool) -> String {
        let words =
            switch cause {
            case .deleted: "was deleted"
            case .cascade(let origin): "was deleted with \(origin.map { "'\($0)'" } ?? "another record")"
            case .erased: "was erased"
            case .zone(.deleted): isZone ? "was deleted" : "was deleted with its zone"
            case .zone(.purged): isZone ? "was purged" : "was purged with its zone"
            case .zone(.encryptedDataReset): "was deleted when encrypted data was reset"
            }
        return words + " by \(commitText)" + (erasedBy.map { ", and its values were erased by commit \($0)" } ?? "")
    }

    func sentence(onRecord name: String) -> String {
        "Record '\(name)' \(predicate(ofZone: false))." + (before.map { " See it with --at \($0)." } ?? "")
    }

    /// - Parameters:
    ///   - place: where it was, if the command line does not say; otherwise empty.
    ///   - options: the options that name that place.
    func sentence(onZone name: String, _ place: String = "", options: String = "") -> String {
        "Zone '\(name)'\(place) \(predicate(ofZone: true))."
            + (before.map { " See it with \(options)--at \($0)." } ?? "")
    }

    /// Returns advice on a record of another place, which ends with the options to see it.
    ///
    /// - Parameter options: the options that name the place.
    func advice(_ place: String, options: String) -> String {
        "There was one in \(place). It \(predicate(ofZone: false)): "
            + [options, before.map { "--at \($0)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
