import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// A request of the log that a smaller history may include, whole or in part.
struct MinimizationRequest {
    var asked: RebuiltRequest
    /// The versions that the request made in the log, with the keys of their saves.
    let versions: [(key: SavedVersions.Key, version: Version)]
    /// The shares that the request made or changed in the log.
    let shares: [ShareSavedEvent]
    /// The counts of the whole request: its saves and deletes, and the keys that saves send.
    let wholeCounts: (items: Int, fields: Int)

    /// The users who own the zones of a request for the shared database, by the names of their records.
    private let zoneOwners: [ExactName: String]

    init(
        _ asked: RebuiltRequest, _ versions: [(key: SavedVersions.Key, version: Version)], _ shares: [ShareSavedEvent],
        in state: Fork
    ) throws {
        (self.asked, self.versions, self.shares) = (asked, versions, shares)
        var owners: [ExactName: String] = [:]
        for zone in asked.request.names.zones where asked.request.database.scope == .shared {
            guard let user = try state.user(at: UserAddress(.recordName, zone.owner)) else { continue }
            owners[ExactName(text: zone.owner)] = try state.user(user)
        }
        zoneOwners = owners
        wholeCounts = (asked.request.itemCount, asked.request.fieldCount)
    }

    /// A part that can be left out of a request.
    enum Part: Hashable {
        case save(Int)
        case delete(Int)
        /// The change that a save makes to one of its keys.
        case field(save: Int, place: Int)
        /// The change that a save makes to its parent.
        case parent(Int)
        /// A change that a save makes to a share, such as an invitation.
        case sharing(save: Int, ShareChange.Part)
    }

    /// The items of the request: saves, deletes, joins, and the changes that saves make to shares.
    var itemParts: [Part] {
        guard let counts = asked.request.itemCounts else { return [] }
        var parts: [Part] = (0..<counts.saves).map { .save($0) } + (0..<counts.deletes).map { .delete($0) }
        guard case .modifyRecords(let body) = asked.request.content else { return parts }
        for (index, save) in body.saves.enumerated() {
            parts += (save.sharing?.parts ?? []).map { .sharing(save: index, $0) }
        }
        return parts
    }

    /// The changes of keys and parents that saves of records make.
    var fieldParts: [Part] {
        guard case .modifyRecords(let body) = asked.request.content else { return [] }
        var parts: [Part] = []
        for (index, save) in body.saves.enumerated() {
            parts += save.fields.indices.map { .field(save: index, place: $0) }
            if save.parent != .kept { parts.append(.parent(index)) }
        }
        return parts
    }

    /// Returns the request with only some of its parts; nil if no item is left.
    ///
    /// - Parameter all: the parts that are left out unless they are kept.
    func keeping(_ kept: Set<Part>, of all: [Part]) -> MinimizationRequest? {
        let gone = Set(all).subtracting(kept)
        if gone.isEmpty { return self }
        func keep<Save, Delete>(_ saves: inout [Save], _ deletes: inout [Delete]) {
            saves = saves.enumerated().filter { !gone.contains(.save($0.offset)) }.map(\.element)
            deletes = deletes.enumerated().filter { !gone.contains(.delete($0.offset)) }.map(\.element)
        }
        var result = self
        switch asked.request.content {
        case .modifyRecords(var body):
            for index in body.saves.indices {
                let places = body.saves[index].fields.indices.filter { !gone.contains(.field(save: index, place: $0)) }
                body.saves[index].fields = places.map { body.saves[index].fields[$0] }
                if gone.contains(.parent(index)) { body.saves[index].parent = .kept }
                body.saves[index].sharing?.leaveOut { gone.contains(.sharing(save: index, $0)) }
            }
            keep(&body.saves, &body.deletes)
            result.asked.request.content = .modifyRecords(body)
        case .modifyZones(var body):
            keep(&body.saves, &body.deletes)
            result.asked.request.content = .modifyZones(body)
        case .modifySubscriptions(var body):
            keep(&body.saves, &body.deletes)
            result.asked.request.content = .modifySubscriptions(body)
        case .joinShares(var body):
            var deletes: [String] = []
            keep(&body.tokens, &deletes)
            result.asked.request.content = .joinShares(body)
        case .administer, .declareSchema, .notify: break
        }
        return result.asked.request.itemCount == 0 ? nil : result
    }

    /// Returns the request with only the items about some records; nil if there are none. A request about anything
    /// other than records is returned as it is.
    func about(_ records: Set<RecordName>) -> MinimizationRequest? {
        guard case .modifyRecords(let body) = asked.request.content else { return self }
        let kept = itemParts.filter { part in
            switch part {
            case .save(let index): name(body.saves[index].record).map { records.contains($0) } ?? false
            case .delete(let index): name(body.deletes[index]).map { records.contains($0) } ?? false
            case .field, .parent, .sharing: true
            }
        }
        return keeping(Set(kept), of: itemParts)
    }

    private func name(_ record: RecordKey) -> RecordName? {
        asked.request.names.zone(record.zone).map {
            let database = asked.request.database.named(for: asked.actor.user)
            let owner = database.scope == .shared ? zoneOwners[ExactName(text: $0.owner)] ?? "" : database.owner
            return RecordName(DatabaseID(database.scope, owner: owner), zone: $0, record.name)
        }
    }

    /// The records that the request saves, and the parents that it sets.
    var records: [RecordName] {
        guard case .modifyRecords(let body) = asked.request.content else { return [] }
        var records: [RecordName] = []
        for save in body.saves {
            if let name = name(save.record) { records.append(name) }
            if case .set(let parent) = save.parent, let name = name(parent) { records.append(name) }
        }
        return records
    }
}

/// A record by names that are the same in every timeline, and for every user who may see it.
struct RecordName: Hashable {
    let isPublic: Bool
    /// The user who owns the zone; empty for the public database.
    let owner: ExactName
    let zone: ExactName
    let name: ExactName

    /// - Parameter database: with the user who owns the zone, even if it is a shared database.
    init(_ database: DatabaseID, zone: ZoneID, _ name: String) {
        isPublic = database.scope == .public
        owner = ExactName(text: isPublic ? "" : database.owner)
        self.zone = ExactName(text: zone.name)
        self.name = ExactName(text: name)
    }

    func isIn(_ database: DatabaseID) -> Bool {
        self == RecordName(database, zone: ZoneID(zone.text), name.text)
    }
}
