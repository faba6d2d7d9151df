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
        try output.writeJSON(header)
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
            try output.writeJSON((commit, names), as: Self.commit)
            end.count += 1
            end.last = commit.position
        }
        damage = damage ?? source.store.damage
        // Without its last line an export is incomplete.
        if damage == nil { try output.writeJSON(end) }
        if let zone, damage == nil, !names.zones.contains(where: { isSameText($0.name, zone) }) {
            throw Refusal(.zoneNotFound, "there is no zone '\(zone)' in these commits")
        }
    }

    private func isWanted(_ commit: Commit) -> Bool {
        guard let zone else { return true }
        let touches = (try? commit.payload.withUnsafeBytes { try Envelope.touches(of: $0) }) ?? []
        return touches.contains { LogFilter.isSame(names.zone($0.zone), zone) }
    }

    static let commit = Shape<(commit: Commit, names: KnownNames)>("A commit of an export") {
        Key("offset", "its number") { $0.commit.offset }
        Key("id", "its id") { $0.commit.id }
        Key("time", "when") { $0.commit.time }
        Key("chain", "the chain value after it") { Hexadecimal($0.commit.chain) }
        Key(of: ExportedPayload.shape) { ExportedPayload($0.commit.payload, $0.names) }
    }

    static let basePayload = Shape<(number: UInt64, payload: ExportedPayload)>("A payload of a base") {
        Key("base", "its number, from 1 on") { $0.number }
        Key(of: ExportedPayload.shape) { $0.payload }
    }

    private mutating func writeBase(to output: Output) throws {
        guard var base = try source.store.reader.readBase() else { return }
        var count: UInt64 = 0
        while let payload = try base.next() {
            names.add(from: payload)
            count += 1
            try output.writeJSON((count, ExportedPayload(payload, names)), as: Self.basePayload)
        }
    }
}
