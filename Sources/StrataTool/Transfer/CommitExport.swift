import StrataLog
import StrataModel
import StrataRules
import StrataSystem

/// Exports commits as lines of JSON, from which a store with the same commits can be created.
struct CommitExport {
    /// The name of the zones whose commits are exported; nil for all commits.
    private let zone: String?
    private let last: UInt64
    private var source: CommitSource
    private var names: KnownNames
    private var header: ExportHeader
    /// The damage that keeps a part from being exported; nil if none was found.
    private(set) var damage: StrataError?

    init(_ arguments: Arguments, _ store: StoreAccess) throws {
        var store = store
        let range = try CommitRange(arguments, &store, by: ExportCommand.name)
        let reader = store.reader
        zone = arguments[ExportCommand.zone]
        var end = min(range.last, reader.end.offset)
        if range.latestTime < Int64.max, let younger = try store.firstOffset(notBefore: range.latestTime + 1) {
            end = min(end, younger - 1)
        }
        last = end
        names = KnownNames()
        damage = try names.addAll(of: store, before: range.first)
        source = try CommitSource(store, from: range.first)
        header = ExportHeader(
            .commits, storeID: reader.identity.storeID, container: reader.identity.containerIdentifier)
        (header.first, header.last, header.zone) = (range.first, last, zone)
        let files = ReadOnlyFiles()
        header.hasAssets = try files.exists(store.path + "/assets")
        header.hasKeys = try files.exists(store.path + "/keys")
        let floor = reader.floor
        if range.first > floor.offset + 1 {
            header.missing.append("the commits before commit \(range.first)")
            header.isGapless = false
        } else if floor.offset > 0 {
            if let base = try reader.readBase() {
                header.base = .init(horizon: base.horizon, time: base.time)
            } else {
                header.missing.append("the history up to commit \(floor.offset), which no base replaces")
                header.isGapless = false
            }
        }
        if last < reader.end.offset { header.missing.append("the commits after commit \(last)") }
        if let zone {
            header.missing.append("commits that do not touch zone '\(zone)'")
            header.isGapless = false
        }
    }

    /// - Throws: ``Refusal`` for a zone that does not exist.
    mutating func write(to output: Output) throws {
        try header.write(to: output)
        let floor = source.store.reader.floor
        var end = ExportEnd(count: 0, last: Position(offset: header.first - 1, chain: 0))
        if end.last.offset == floor.offset { end.last = floor }
        if header.base != nil {
            do { try writeBase(to: output) } catch let error as StrataError where error.isDamage {
                damage = damage ?? error
            }
        }
        while source.nextOffset <= last, let commit = try source.next() {
            names.add(from: commit.payload)
            guard isWanted(commit) else { continue }
            try write(commit, to: output)
            end.count += 1
            end.last = commit.position
        }
        damage = damage ?? source.store.damage
        // Without its last line an export is incomplete.
        if damage == nil { try end.write(to: output) }
        if let zone, damage == nil, !names.zones.contains(where: { isSameText($0.name, zone) }) {
            throw Refusal(.zoneNotFound, "there is no zone '\(zone)' in these commits")
        }
    }

    private func isWanted(_ commit: Commit) -> Bool {
        guard let zone else { return true }
        let touches = (try? commit.payload.withUnsafeBytes { try Envelope.touches(of: $0) }) ?? []
        return touches.contains { LogFilter.isSame(names.zone($0.zone), zone) }
    }

    private func write(_ commit: Commit, to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", commit.offset)
        json.field("id", commit.id)
        json.field("time", commit.time)
        json.field("chain", hexadecimal: commit.chain)
        ExportedPayload(names: names).write(commit.payload, to: &json)
        json.endObject()
        try output.endLine()
    }

    private mutating func writeBase(to output: Output) throws {
        guard var base = try source.store.reader.readBase() else { return }
        var count: UInt64 = 0
        while let payload = try base.next() {
            names.add(from: payload)
            count += 1
            var json = JSONWriter(output)
            json.beginObject()
            json.field("base", count)
            ExportedPayload(names: names).write(payload, to: &json)
            json.endObject()
            try output.endLine()
        }
    }
}
