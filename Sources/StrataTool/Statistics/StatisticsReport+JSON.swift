import StrataModel

extension StatisticsReport {
    func writeJSON(to output: Output) throws {
        let numbers = statistics
        var json = JSONWriter(output)
        json.beginObject()
        json.field("path", path)
        if let zone = numbers.zone { json.field("zone", zone) }
        json.field("commits", numbers.commits.count)
        json.field("payloadBytes", numbers.commits.byteCount)
        json.field("events", numbers.events.count)
        json.field("eventBytes", numbers.events.byteCount)
        json.field("lazyCommits", numbers.lazyCount)
        json.field("malformedCommits", numbers.malformedCount)
        json.field("firstOffset", numbers.firstOffset)
        json.field("lastOffset", numbers.lastOffset)
        json.field("firstTime", numbers.firstTime)
        json.field("lastTime", numbers.lastTime)
        writeStored(to: &json)
        writeSaves(to: &json)
        json.beginArray("kinds")
        for (kind, tally) in numbers.kinds.sorted(by: { $0.rawValue < $1.rawValue }) {
            json.beginObject()
            json.field("kind", kind.rawValue)
            json.field("name", "\(kind)")
            json.field("events", tally.count)
            json.field("bytes", tally.byteCount)
            json.endObject()
        }
        json.endArray()
        writeNames(to: &json)
        writeTimes(to: &json)
        writeRefusals(to: &json)
        writeChurn(to: &json)
        writeCompaction(to: &json)
        json.field("damage", damage)
        json.endObject()
        try output.endLine()
    }

    private func writeStored(to json: inout JSONWriter) {
        guard tellsStoredBytes else { return json.null("stored") }
        json.beginObject("stored")
        json.field("segments", stored.segmentCount)
        json.field("bytes", stored.storedBytes)
        json.field("payloadBytes", stored.payloadBytes)
        json.endObject()
    }

    private func writeSaves(to json: inout JSONWriter) {
        let (saves, ends) = (statistics.saves, statistics.ends)
        json.field("created", saves.created)
        json.field("updated", saves.updated)
        json.field("touched", saves.touched)
        json.field("overwritten", saves.overwritten)
        json.field("deleted", ends.deleted)
        json.field("cascaded", ends.cascaded)
        json.field("erased", ends.erased)
    }

    private func writeNames(to json: inout JSONWriter) {
        let names = statistics.names
        write(statistics.zones, "zones", counts: "events", to: &json) { ordinal, json in
            json.zoneOfDatabase(ordinal, names)
        }
        write(statistics.types, "types", counts: "events", to: &json) { ordinal, json in
            json.type(ordinal, names)
        }
        write(statistics.fields, "fields", counts: "values", to: &json) { ordinal, json in
            json.recordField(ordinal, names)
            json.field("removed", statistics.removals.tallies[ordinal]?.count ?? 0)
        }
        write(statistics.users, "users", counts: "commits", to: &json) { ordinal, json in
            json.user(ordinal, names)
        }
    }

    private func write(
        _ table: TallyTable<UInt64>, _ key: StaticString, counts: StaticString, to json: inout JSONWriter,
        _ body: (UInt64, inout JSONWriter) -> Void
    ) {
        json.beginArray(key)
        for (ordinal, tally) in table.sorted(by: <) {
            json.beginObject()
            body(ordinal, &json)
            json.field(counts, tally.count)
            json.field("bytes", tally.byteCount)
            json.endObject()
        }
        if table.others.count > 0 {
            json.beginObject()
            json.field("others", true)
            json.field(counts, table.others.count)
            json.field("bytes", table.others.byteCount)
            json.endObject()
        }
        json.endArray()
    }

    private func writeTimes(to json: inout JSONWriter) {
        json.beginArray("hours")
        for tally in statistics.hours { json.value(Int64(clamping: tally.count)) }
        json.endArray()
        json.beginArray("days")
        for (day, tally) in statistics.days.tallies.sorted(by: { $0.key < $1.key }) {
            json.beginObject()
            json.field("day", Self.day(day))
            json.field("commits", tally.count)
            json.field("bytes", tally.byteCount)
            json.endObject()
        }
        json.endArray()
    }

    private func writeRefusals(to json: inout JSONWriter) {
        let refused = statistics.refused
        func write(_ counts: [UInt64: UInt64], _ key: StaticString) {
            json.beginArray(key)
            for (code, count) in counts.sorted(by: { $0.key < $1.key }) {
                json.beginObject()
                json.field("code", code)
                json.field("name", "\(Refusal.Code(rawValue: code))")
                json.field("count", count)
                json.endObject()
            }
            json.endArray()
        }
        write(refused.requests, "refusedRequests")
        write(refused.items, "refusedItems")
        json.field("conflicts", refused.conflicts)
    }

    private func writeChurn(to json: inout JSONWriter) {
        json.beginArray("churn")
        for (item, count) in churn {
            json.beginObject()
            json.zoneOfDatabase(item.zone, statistics.names)
            json.field("record", item.name.text)
            json.field("versions", count)
            json.endObject()
        }
        json.endArray()
        json.field("churnError", statistics.churn.error)
    }

    private func writeCompaction(to json: inout JSONWriter) {
        guard let compaction else { return json.null("compaction") }
        json.beginObject("compaction")
        json.field("estimated", compaction.isEstimate)
        json.field("horizon", compaction.horizon)
        json.field("segments", compaction.segmentCount)
        json.field("freedBytes", compaction.freedBytes)
        if compaction.isEstimate {
            json.field("baseBytes", compaction.baseBytes)
        } else {
            json.field("recordBytes", compaction.baseBytes)
        }
        json.endObject()
    }
}
