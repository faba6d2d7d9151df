import StrataLog
import StrataModel
import StrataStore

/// A request of the log that a smaller history may have, whole or in part.
struct MinimisationRequest {
    var asked: RebuiltRequest
    /// The versions that it made in the log, by what they are of.
    let versions: [(key: SavedVersions.Key, version: Version)]
    /// Of the whole request: saves and deletes, and keys that saves send.
    let wholeCounts: (items: Int, fields: Int)

    init(_ asked: RebuiltRequest, _ versions: [(key: SavedVersions.Key, version: Version)]) {
        (self.asked, self.versions) = (asked, versions)
        wholeCounts = (asked.request.itemCount, asked.request.fieldCount)
    }

    /// Something that can be left out of a request and leaves one.
    enum Part: Hashable {
        case save(Int)
        case delete(Int)
        /// What a save does with one of its keys.
        case field(save: Int, place: Int)
        /// What a save does with its parent.
        case parent(Int)
    }

    /// Items: saves and deletes.
    var itemParts: [Part] {
        switch asked.request.content {
        case .modifyRecords(let body): body.saves.indices.map { .save($0) } + body.deletes.indices.map { .delete($0) }
        case .modifyZones(let body): body.saves.indices.map { .save($0) } + body.deletes.indices.map { .delete($0) }
        case .modifySubscriptions(let body):
            body.saves.indices.map { .save($0) } + body.deletes.indices.map { .delete($0) }
        case .administer, .declareSchema, .notify: []
        }
    }

    /// What saves of records say beside that they are made.
    var fieldParts: [Part] {
        guard case .modifyRecords(let body) = asked.request.content else { return [] }
        var parts: [Part] = []
        for (index, save) in body.saves.enumerated() {
            parts += save.fields.indices.map { .field(save: index, place: $0) }
            if save.parent != .kept { parts.append(.parent(index)) }
        }
        return parts
    }

    /// The request with only some of its parts; nil if nothing is left that it asks for.
    ///
    /// - Parameter all: what is left out unless it is kept.
    func keeping(_ kept: Set<Part>, of all: [Part]) -> MinimisationRequest? {
        let gone = Set(all).subtracting(kept)
        if gone.isEmpty { return self }
        var result = self
        switch asked.request.content {
        case .modifyRecords(var body):
            for index in body.saves.indices {
                let places = body.saves[index].fields.indices.filter { !gone.contains(.field(save: index, place: $0)) }
                body.saves[index].fields = places.map { body.saves[index].fields[$0] }
                if gone.contains(.parent(index)) { body.saves[index].parent = .kept }
            }
            body.saves = Self.keep(body.saves) { gone.contains(.save($0)) }
            body.deletes = Self.keep(body.deletes) { gone.contains(.delete($0)) }
            if body.saves.isEmpty, body.deletes.isEmpty { return nil }
            result.asked.request.content = .modifyRecords(body)
        case .modifyZones(var body):
            body.saves = Self.keep(body.saves) { gone.contains(.save($0)) }
            body.deletes = Self.keep(body.deletes) { gone.contains(.delete($0)) }
            if body.saves.isEmpty, body.deletes.isEmpty { return nil }
            result.asked.request.content = .modifyZones(body)
        case .modifySubscriptions(var body):
            body.saves = Self.keep(body.saves) { gone.contains(.save($0)) }
            body.deletes = Self.keep(body.deletes) { gone.contains(.delete($0)) }
            if body.saves.isEmpty, body.deletes.isEmpty { return nil }
            result.asked.request.content = .modifySubscriptions(body)
        case .administer, .declareSchema, .notify: break
        }
        return result
    }

    private static func keep<Item>(_ items: [Item], but isGone: (Int) -> Bool) -> [Item] {
        items.enumerated().filter { !isGone($0.offset) }.map(\.element)
    }

    /// The request with only the items that are about some records; nil if there are none. What is about other things
    /// than records stays as it is.
    func about(_ records: Set<RecordName>) -> MinimisationRequest? {
        guard case .modifyRecords(let body) = asked.request.content else { return self }
        let kept = itemParts.filter { part in
            switch part {
            case .save(let index): name(body.saves[index].record).map { records.contains($0) } ?? false
            case .delete(let index): name(body.deletes[index]).map { records.contains($0) } ?? false
            case .field, .parent: true
            }
        }
        return keeping(Set(kept), of: itemParts)
    }

    private func name(_ record: RecordKey) -> RecordName? {
        asked.request.names.zone(record.zone).map {
            RecordName(asked.request.homeDatabase(of: asked.actor), zone: $0.name, record.name)
        }
    }

    /// Records whose states it may change.
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

/// A record by names that are the same in every timeline.
struct RecordName: Hashable {
    var database: DatabaseID
    var zone: ExactName
    var name: ExactName

    init(_ database: DatabaseID, zone: String, _ name: String) {
        self.database = database
        self.zone = ExactName(text: zone)
        self.name = ExactName(text: name)
    }
}
