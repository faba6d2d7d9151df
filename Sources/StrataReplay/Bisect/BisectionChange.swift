import StrataModel

/// The number of records that began and ceased to match the predicate with one commit.
struct BisectionChange: Sendable {
    let offset: UInt64
    var gains: Int32 = 0
    var losses: Int32 = 0
    /// The events of the first gain and of the last loss.
    var gainedBy: UInt32 = 0
    var lostBy: UInt32 = 0

    mutating func gain(_ event: UInt32) {
        if gains == 0 || event < gainedBy { gainedBy = event }
        gains += 1
    }

    mutating func lose(_ event: UInt32, count: Int = 1) {
        guard count > 0 else { return }
        if losses == 0 || event > lostBy { lostBy = event }
        losses += Int32(clamping: count)
    }
}

/// The changes found in a range of commits.
struct BisectionPart: Sendable {
    typealias Victims = [Version: (record: RecordKey, version: Version)]

    /// The number of records that match the predicate at the beginning.
    var countAtStart = 0
    /// In the order of offsets.
    var changes: [BisectionChange] = []
    /// A record that matched the predicate until its zone was deleted, by the version of the deletion.
    var endedWithZone: Victims = [:]

    /// Adds the changes of another commit, if there were any.
    mutating func append(_ change: BisectionChange) {
        if change.gains > 0 || change.losses > 0 { changes.append(change) }
    }

    /// Keeps the first record by name of those that a deleted zone ended.
    mutating func noteVictim(_ record: RecordKey, at version: Version, of deletion: Version) {
        if let known = endedWithZone[deletion], !record.name.utf8.lexicographicallyPrecedes(known.record.name.utf8) {
            return
        }
        endedWithZone[deletion] = (record, version)
    }
}
