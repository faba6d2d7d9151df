import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// The latest commit that changed each record or zone differently, so that what follows can name its cause.
struct RerunCauses {
    /// A commit that turned out differently, and the change where that began.
    struct Cause: Sendable, Hashable {
        var offset: UInt64
        var root: UInt64
    }

    private static let seed: UInt128 = 0x5354_5241_5441
    /// The causes by a hash of names, which is wide enough to tell a billion records apart.
    private var causes: [UInt64: Cause] = [:]
    /// The cause of differences in accounts, schemas and the like.
    private var general: Cause?
    /// The number of commits that were changed on purpose.
    private var directCount = 0
    private var lastDirect: Cause?

    static func key(_ database: DatabaseID, _ zone: String, _ record: String?) -> UInt64 {
        var writer = ByteWriter(reserving: 64)
        writer.append(database)
        writer.appendString(zone)
        writer.append(record == nil ? 0 : 1 as UInt8)
        writer.appendString(record ?? "")
        return writer.bytes.withUnsafeBytes { UInt64(truncatingIfNeeded: DigestHash.hash(seed, $0)) }
    }

    mutating func addDirect(_ offset: UInt64) -> Cause {
        let cause = Cause(offset: offset, root: offset)
        if lastDirect != cause { directCount += 1 }
        lastDirect = cause
        return cause
    }

    mutating func note(_ scope: RerunScope, _ cause: Cause) {
        for key in scope.keys { causes[key] = cause }
        if scope.isGeneral { general = cause }
    }

    /// Returns the latest cause of the first key that has one, else the general cause, else the only direct change.
    func cause(of keys: [UInt64]) -> Cause? {
        for key in keys {
            if let cause = causes[key] { return cause }
        }
        if let general { return general }
        return directCount == 1 ? lastDirect : nil
    }
}

/// The records and zones that a request or a commit is about, as keys of causes.
struct RerunScope {
    private(set) var keys: Set<UInt64> = []
    /// True if it concerns more than records and zones.
    private(set) var isGeneral = false

    mutating func add(_ request: Request, as actor: Actor) {
        let database = request.database.named(for: actor.user)
        func insert(_ zone: UInt64, _ record: String?) {
            guard let zone = request.names.zone(zone) else { return }
            keys.insert(RerunCauses.key(database, zone.name, record))
        }
        switch request.content {
        case .modifyRecords, .modifyZones:
            for item in request.items { item.zone.map { insert($0, item.name) } }
        case .administer(.purgeZone(let zone)): insert(zone, nil)
        case .administer, .declareSchema, .modifySubscriptions, .notify, .joinShares: isGeneral = true
        }
    }

    /// Adds what a commit changed, including touched parents and records deleted together.
    mutating func add(_ payload: ArraySlice<UInt8>, in state: some NameResolver) throws {
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            while let event = try walker.next() {
                switch event.kind {
                case .recordSaved, .recordDeleted:
                    guard let record = try RecordEvent(event.kind, event.body, of: bytes) else { continue }
                    try insert(record.zone, record.name, state)
                case .zoneSaved, .zoneDeleted:
                    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[event.body]))
                    try insert(try reader.readEventZone(), nil, state)
                default: break
                }
            }
        }
    }

    private mutating func insert(_ zone: UInt64, _ record: String?, _ state: some NameResolver) throws {
        guard let place = try state.zone(zone) else { return }
        keys.insert(RerunCauses.key(place.database, place.name, record))
    }
}

extension ModifyRecordsRequest.Save {
    /// The records that a parent or a `deleteSelf` reference ties the saved one to, all in its zone.
    fileprivate var linkTargets: [String] {
        var targets: [String] = []
        if case .set(let target) = parent { targets.append(target.name) }
        let references = fields.flatMap { $0.value?.references ?? [] }
        return targets + references.filter { $0.action == .deleteSelf }.map(\.target.name)
    }
}

extension Request {
    /// Returns the keys of the request's items and of what they depend on, nearest first.
    func causeKeys(_ before: RequestOutcome?, _ after: RequestOutcome, as actor: Actor) -> [UInt64] {
        let database = database.named(for: actor.user)
        var (records, links, zones): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
        func add(_ zone: UInt64, _ record: String?, _ targets: [String] = []) {
            guard let zone = names.zone(zone) else { return }
            if let record { records.append(RerunCauses.key(database, zone.name, record)) }
            links += targets.map { RerunCauses.key(database, zone.name, $0) }
            zones.append(RerunCauses.key(database, zone.name, nil))
        }
        switch content {
        case .modifyRecords(let body):
            let culprits = Set(((before?.items ?? []) + after.items).filter { $0.refusal.code != .batchRequestFailed })
            // Refused items come first; the others only accompany them.
            let order = [true, false]
            for isCulprit in order {
                for (index, save) in body.saves.enumerated()
                where culprits.contains(where: { $0.list == .saves && $0.index == index }) == isCulprit {
                    add(save.record.zone, save.record.name, save.linkTargets)
                }
                for (index, delete) in body.deletes.enumerated()
                where culprits.contains(where: { $0.list == .deletes && $0.index == index }) == isCulprit {
                    add(delete.zone, delete.name)
                }
            }
        case .modifyZones: for item in items { item.zone.map { add($0, nil) } }
        default: break
        }
        return records + links + zones
    }
}
