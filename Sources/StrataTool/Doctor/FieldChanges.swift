import StrataModel

/// The last change of each field of each record that was changed since it was created, in bounded memory: the
/// candidates for overwritten values, and the fields that change back and forth.
struct FieldChanges {
    /// The number of fields whose last change is known: twice as many fit into the memory of the table.
    private static let capacity = 1_500_000
    /// The number of the last saves that are kept as candidates, with a version and without one. An app that never
    /// names a version makes as many candidates as saves.
    private static let mostCandidates = (based: 10_000, blind: 1_000)
    /// The number of returns to the value before the last one, each by another author, that make a finding.
    private static let suspiciousReturns = 4

    private struct Last {
        var offset: UInt64
        var author: UInt32
        /// The hash of the value, and of the value before it; 0 if unknown.
        var value: UInt32
        var before: UInt32
        var returns: UInt32
    }

    /// A field that several authors changed back and forth.
    struct BackAndForth {
        let record: RecordKey
        let field: UInt64
        let first: ScannedCommit
        var last: ScannedCommit
        var authors: Set<ScannedCommit.Author>
        var changeCount: UInt64
    }

    /// A save that another version than the stored one was based on, with the fields it may have overwritten unseen.
    struct StaleSave {
        let record: RecordKey
        let version: Version
        let base: Version?
        let policy: SavePolicy
        let commit: ScannedCommit
    }

    private var lasts: [UInt64: Last] = [:]
    private var authors: [ScannedCommit.Author: UInt32] = [:]
    private var authorList: [ScannedCommit.Author] = []
    /// The author of the records of a zone, while there is only one.
    private var soleAuthors: [UInt64: UInt32] = [:]
    /// The changes up to here may have left the table.
    private var forgottenThrough: UInt64 = 0
    private var fields: [UInt64: BackAndForth] = [:]

    /// The last saves that named another version than the stored one, and that named none; each may have overwritten
    /// a value unseen.
    private(set) var based = LastItems<StaleSave>(mostCandidates.based)
    private(set) var blind = LastItems<StaleSave>(mostCandidates.blind)
    var backAndForth: [BackAndForth] { fields.values.sorted { $0.first.offset < $1.first.offset } }

    private static let several = UInt32.max

    mutating func add(
        _ event: RecordEvent, _ view: RecordSavedView, at version: Version, _ commit: ScannedCommit
    ) throws {
        let author = number(of: commit.author)
        let known = soleAuthors[view.zone]
        if known == nil {
            soleAuthors[view.zone] = author
        } else if known != author {
            soleAuthors[view.zone] = Self.several
        }
        guard view.change == .update, !view.isErased else { return }
        var hasLost = false
        let isStale = view.base != view.previous
        let base = view.base?.resolved(in: commit.offset).offset ?? 0
        // Creations are not in the table; a version named by the client came after its record's creation.
        let isOpen = isStale && (base < forgottenThrough || view.base == nil && soleAuthors[view.zone] == Self.several)
        var hasher = Hasher()
        hasher.combine(view.zone)
        hasher.combine(bytes: event.nameBytes)
        let table = try view.fields
        for place in 0..<table.count {
            let range = try table.range(at: place)
            let field = table.ordinal(at: place)
            var key = hasher
            key.combine(field)
            var content = Hasher()
            content.combine(bytes: UnsafeRawBufferPointer(rebasing: event.body[range]))
            let value = UInt32(truncatingIfNeeded: content.finalize()) | 1
            let slot = UInt64(bitPattern: Int64(key.finalize()))
            guard var last = lasts[slot] else {
                hasLost = hasLost || isOpen
                lasts[slot] = Last(offset: commit.offset, author: author, value: value, before: 0, returns: 0)
                continue
            }
            if last.value == value { continue }
            if isStale, last.offset > base, last.author != author { hasLost = true }
            last.returns = value == last.before && author != last.author ? last.returns + 1 : 0
            if last.returns >= Self.suspiciousReturns {
                try note(event, field, slot, from: authorList[Int(last.author)], commit)
            }
            (last.before, last.value, last.author, last.offset) = (last.value, value, author, commit.offset)
            lasts[slot] = last
        }
        // A full state leaves removed fields out.
        if hasLost || isStale && view.isFull {
            let save = StaleSave(
                record: try event.key, version: version, base: view.base?.resolved(in: commit.offset),
                policy: view.policy, commit: commit)
            if save.base == nil { blind.append(save) } else { based.append(save) }
        }
        if lasts.count > Self.capacity { forget() }
    }

    private mutating func number(of author: ScannedCommit.Author) -> UInt32 {
        if let number = authors[author] { return number }
        let number = UInt32(authorList.count)
        authors[author] = number
        authorList.append(author)
        return number
    }

    private mutating func note(
        _ event: RecordEvent, _ field: UInt32, _ slot: UInt64, from other: ScannedCommit.Author, _ commit: ScannedCommit
    ) throws {
        if fields[slot] == nil {
            fields[slot] = BackAndForth(
                record: try event.key, field: UInt64(field), first: commit,
                last: commit, authors: [other], changeCount: UInt64(Self.suspiciousReturns) + 1)
        }
        fields[slot]?.last = commit
        fields[slot]?.authors.insert(commit.author)
        fields[slot]?.changeCount += 1
    }

    /// Drops the older half of the changes.
    private mutating func forget() {
        let offsets = lasts.values.map(\.offset).sorted()
        forgottenThrough = offsets[offsets.count / 2]
        lasts = lasts.filter { $0.value.offset > forgottenThrough }
    }
}
