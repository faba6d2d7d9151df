import StrataModel

/// Follows the number of records in each zone, and gathers what deletions took along.
struct DeletionScan {
    /// The number of records that one author must delete for a mass deletion, each within ``windowMicroseconds`` of the
    /// one before it, and together a fifth of the records that the zone had or got meanwhile.
    private static let massCount: UInt64 = 20
    private static let massShare: UInt64 = 5
    private static let windowMicroseconds: Int64 = 60_000_000

    /// Deletions of one author in one zone, shortly after each other.
    private struct Window {
        let first: ScannedCommit
        var last: ScannedCommit
        let countBefore: UInt64
        /// The number of records that the zone had ever got when it began.
        let createdBefore: UInt64
        var count: UInt64
    }

    private struct Place: Hashable {
        let zone: UInt64
        let author: ScannedCommit.Author
    }

    /// The deletions of the commit that is being read.
    private struct Deletions {
        var asked: [RecordKey] = []
        var cascaded: [RecordKey] = []
        var all: Set<RecordKey> = []
        var zones: [(zone: UInt64, count: UInt64)] = []
    }

    private var recordCounts: [UInt64: UInt64] = [:]
    private var createdCounts: [UInt64: UInt64] = [:]
    private var windows: [Place: Window] = [:]
    private var current = Deletions()
    private(set) var findings = LastItems<Finding>(Finding.mostKept)

    mutating func addRecord(in zone: UInt64) {
        recordCounts[zone, default: 0] += 1
        createdCounts[zone, default: 0] += 1
    }

    /// Drops the deletions of a commit.
    mutating func forget() { current = Deletions() }

    mutating func addDeletion(of record: RecordKey, isCascade: Bool) {
        if isCascade { current.cascaded.append(record) } else { current.asked.append(record) }
        current.all.insert(record)
    }

    /// An erasure removes a record that its user or an administrator named.
    mutating func addErasure(in zone: UInt64) { removeRecord(in: zone) }

    mutating func addDeletion(ofZone zone: UInt64) {
        current.zones.append((zone, recordCounts[zone] ?? 0))
    }

    private mutating func removeRecord(in zone: UInt64) {
        if let count = recordCounts[zone], count > 0 { recordCounts[zone] = count - 1 }
    }

    var hasDeletions: Bool { !current.asked.isEmpty || !current.cascaded.isEmpty || !current.zones.isEmpty }

    /// Returns true if the commit deletes the record.
    func deletes(_ record: RecordKey) -> Bool { current.all.contains(record) }
    func deletes(zone: UInt64) -> Bool { current.zones.contains { $0.zone == zone } }

    mutating func end(_ commit: ScannedCommit, _ names: KnownNames) {
        guard hasDeletions else { return }
        for (zone, count) in current.zones {
            recordCounts[zone] = 0
            guard count > 0 else { continue }
            findings.append(
                Finding(
                    .zoneDeletion, commit, zone: zone,
                    "\(names.text(of: commit.author)) deleted the zone \(names.shownPlace(ofZone: zone)) with "
                        + count.counted("record"),
                    count: count, next: ["show", "\(commit.offset)"], names))
        }
        for record in current.asked { note(record, commit, names) }
        for record in current.cascaded { removeRecord(in: record.zone) }
        if let first = current.cascaded.first { findings.append(cascade(first, commit, names)) }
        current = Deletions()
    }

    private func cascade(_ first: RecordKey, _ commit: ScannedCommit, _ names: KnownNames) -> Finding {
        let asked = current.asked.isEmpty ? "a deletion" : "the deletion of \(NameList.text(of: current.asked))"
        return Finding(
            .cascade, commit, zone: first.zone, record: first.name,
            "\(asked) by \(names.text(of: commit.author)) took along \(NameList.text(of: current.cascaded)) in "
                + names.shownPlace(ofZone: first.zone),
            count: UInt64(current.cascaded.count), next: ["explain", "\(commit.offset)"], names)
    }

    private mutating func note(_ record: RecordKey, _ commit: ScannedCommit, _ names: KnownNames) {
        let place = Place(zone: record.zone, author: commit.author)
        var window = windows[place]
        if let known = window, commit.time - known.last.time > Self.windowMicroseconds {
            close(known, place, names)
            window = nil
        }
        var open =
            window
            ?? Window(
                first: commit, last: commit, countBefore: recordCounts[record.zone] ?? 0,
                createdBefore: createdCounts[record.zone] ?? 0, count: 0)
        open.count += 1
        open.last = commit
        windows[place] = open
        removeRecord(in: record.zone)
    }

    private mutating func close(_ window: Window, _ place: Place, _ names: KnownNames) {
        let all = window.countBefore + (createdCounts[place.zone] ?? 0) - window.createdBefore
        guard window.count >= Self.massCount, window.count * Self.massShare >= all else { return }
        let isOne = window.first.offset == window.last.offset
        var finding = Finding(
            .massDeletion, window.first, zone: place.zone,
            "\(names.text(of: place.author)) deleted \(window.count) of \(all.counted("record")) of "
                + "\(names.shownPlace(ofZone: place.zone)) " + (isOne ? "at once" : "shortly after each other"),
            count: window.count,
            next: isOne
                ? ["show", "\(window.first.offset)"]
                : ["log", "--from", "\(window.first.offset)", "--to", "\(window.last.offset)", "--oneline"], names)
        if !isOne { finding.lastOffset = window.last.offset }
        findings.append(finding)
    }

    /// Closes what is still open at the end of the log.
    mutating func finish(_ names: KnownNames) {
        for (place, window) in windows { close(window, place, names) }
        windows = [:]
    }
}
