import StrataModel
import StrataRules

extension StatisticsReport: Shaped {
    static let shape = Shape<Self>("What `stats` prints") {
        Key("path", "as given") { $0.path }
        Key("zone", "the zone that was selected", if: "with `--zone`") { $0.statistics.zone }
        Key(of: CommitCounts.shape) { $0.statistics.commits }
        Key("stored", "space, or null with `--zone` or if no whole segment was read") {
            $0.tellsStoredBytes ? $0.stored : nil
        }
        Key(of: RecordCounts.shape) { $0.statistics.records }
        Key("kinds", "kinds of events", each: kindShape) { $0.statistics.kinds.sorted { $0.rawValue < $1.rawValue } }
        Key("zones", "zones by events of their records, most frequent first") { $0.counted($0.statistics.zones, .zone) }
        Key("types", "the same for record types") { $0.counted($0.statistics.types, .recordType) }
        Key("fields", "the same for fields, by values that were sent") { $0.counted($0.statistics.fields, .field) }
        Key("users", "the same for users, by commits") { $0.counted($0.statistics.users, .user) }
        Key("hours", "24 numbers: commits by hour of the day") { $0.statistics.hours.map(\.count) }
        Key("days", "commits by day", each: dayShape) { $0.statistics.days.tallies.sorted { $0.key < $1.key } }
        Key(of: RefusalCounts.shape) { $0.statistics.refused }
        Key("churn", "the records with the most versions, 20 at most", each: churnShape) { report in
            report.churn.map { ($0.item, $0.count, report.statistics.names) }
        }
        Key("churnError", "by how much their numbers may be too low, 0 if they are exact") { $0.statistics.churn.error }
        Key("compaction", "the space that a compaction would free, or null if none or not known") { $0.compaction }
        Key("damage", "damage that was found") { $0.damage }
    }

    private static let kindShape = Shape<(key: EventKind, value: Tally)>("A kind of event") {
        Key("kind", "its number") { $0.key.rawValue }
        Key("name", "its name") { "\($0.key)" }
        Key("events", "how many") { $0.value.count }
        Key("bytes", "of their bodies") { $0.value.byteCount }
    }

    private static let dayShape = Shape<(key: Int64, value: Tally)>("A day that is counted") {
        Key("day", "such as `2026-11-21`") { day($0.key) }
        Key("commits", "how many") { $0.value.count }
        Key("bytes", "of their payloads") { $0.value.byteCount }
    }

    private static let churnShape = Shape<(LogStatistics.RecordName, UInt64, KnownNames)>(
        "A record with many versions"
    ) {
        Key(of: NamedZone.shape) { NamedZone($0.0.zone, $0.2) }
        Key("record", "name of the record") { $0.0.name.text }
        Key("versions", "how many it got, counting deletions") { $0.1 }
    }

    fileprivate func counted(_ table: TallyTable<UInt64>, _ namespace: Namespace) -> [CountedName] {
        let others = table.others
        return table.sorted(by: <).map {
            CountedName(namespace: namespace, ordinal: $0.key, tally: $0.value, report: self)
        } + (others.count > 0 ? [CountedName(namespace: namespace, ordinal: nil, tally: others, report: self)] : [])
    }
}

/// A name with the number of its uses.
private struct CountedName: Shaped {
    let namespace: Namespace
    /// Nil for all names that are not counted separately.
    let ordinal: UInt64?
    let tally: Tally
    let report: StatisticsReport

    private var names: KnownNames { report.statistics.names }

    private func ordinal(in namespace: Namespace) -> UInt64? { self.namespace == namespace ? ordinal : nil }

    private func count(in namespaces: Namespace...) -> UInt64? {
        namespaces.contains(namespace) ? tally.count : nil
    }

    static let shape = Shape<Self>("A name that is counted") {
        Key("others", "true: all others together", if: "the last one, if too many") { $0.ordinal == nil ? true : nil }
        Key(of: NamedZone.shape, if: "zones") { name in name.ordinal(in: .zone).map { NamedZone($0, name.names) } }
        Key("type", name: "typeName", "ordinal", if: "types") { name in
            name.ordinal(in: .recordType).map { ($0, name.names.recordType($0)) }
        }
        Key("field", name: "fieldName", "ordinal", if: "fields") { name in
            name.ordinal(in: .field).map { ($0, name.names.field($0)) }
        }
        Key("removed", "how often it was removed", if: "fields") { name in
            name.ordinal(in: .field).map { name.report.statistics.removals.tallies[$0]?.count ?? 0 }
        }
        Key("user", name: "userName", "ordinal, 0 for the system", if: "users") { name in
            name.ordinal(in: .user).map { ($0, name.names.user($0)) }
        }
        Key("events", "of its records", if: "zones, types") { $0.count(in: .zone, .recordType) }
        Key("values", "that were sent", if: "fields") { $0.count(in: .field) }
        Key("commits", "made by the user", if: "users") { $0.count(in: .user) }
        Key("bytes", "of the events, values or payloads") { $0.tally.byteCount }
    }
}

extension StoredBytes: Shaped {
    static let shape = Shape<Self>("What commits take") {
        Key("segments", "how many segments lie completely within the range that was counted") { $0.segmentCount }
        Key("bytes", "how many bytes they take") { $0.storedBytes }
        Key("payloadBytes", "how many bytes the payloads in them have") { $0.payloadBytes }
    }
}

extension StoredBytes.Compaction: Shaped {
    static let shape = Shape<Self>("What a compaction would free") {
        Key("estimated", "true if the size of the base is an estimate") { $0.isEstimate }
        Key("horizon", "the last commit that would be compacted") { $0.horizon }
        Key("segments", "how many files of the log would be removed") { $0.segmentCount }
        Key("freedBytes", "how many bytes they have, including the current base") { $0.freedBytes }
        Key("baseBytes", "about how many a new base has", if: "if estimated") { $0.isEstimate ? $0.baseBytes : nil }
        Key("recordBytes", "bytes of records before compression", if: "if not") { $0.isEstimate ? nil : $0.baseBytes }
    }
}
