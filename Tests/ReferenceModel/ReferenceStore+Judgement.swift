import StrataModel

extension ReferenceStore {
    /// One request about records while it is judged: each item's refusal, and the records as they would be.
    struct Judgement {
        let store: ReferenceStore
        let asker: Asker
        let request: ModifyRecordsRequest
        let saves: [SaveItem]
        let deletes: [ReferencePlace]
        var saveRefusals: [Refusal?]
        var deleteRefusals: [Refusal?]
        /// The atomic zones of deletes that failed alone, in which no other is judged.
        var failedZones: Set<ReferenceName> = []
        /// What each save makes of its record; nil if it failed.
        var merged: [ReferenceRecord?]
        /// Kinds that saves of this request gave to keys without one.
        var bound: [ReferenceName: [ReferenceName: ReferenceBinding]] = [:]
        /// What saves add to what is in use.
        var added = 0
        /// By zone, the records with the accepted saves in them.
        var records: [ReferenceName: [ReferenceName: ReferenceRecord]] = [:]
        /// What goes, in order, with the deletes that were asked for.
        var going: [ReferencePlace] = []
        /// The shares that a member leaves.
        var left: [ReferencePlace] = []

        init(
            store: ReferenceStore, asker: Asker, request: ModifyRecordsRequest, saves: [SaveItem],
            deletes: [ReferencePlace]
        ) {
            self.store = store
            self.asker = asker
            self.request = request
            self.saves = saves
            self.deletes = deletes
            saveRefusals = Array(repeating: nil, count: saves.count)
            deleteRefusals = Array(repeating: nil, count: deletes.count)
            merged = Array(repeating: nil, count: saves.count)
        }

        mutating func judge() {
            for index in saves.indices { judgeAlone(index) }
            judgeTogether()
            for index in saves.indices where saveRefusals[index] == nil { merged[index] = withHolding(index) }
            for zone in zonesWithItems { records[zone] = recordsAfterSaves(in: zone) }
            judgeDeletes()
            failWholeZones()
        }

        /// Of the database's own; zones of other owners take no part in anything.
        var zonesWithItems: Set<ReferenceName> {
            Set((saves.map(\.place) + deletes).filter { $0.owner == "" }.map(\.zone))
        }

        func zone(_ name: ReferenceName) -> ReferenceZone? {
            store.state.databases[asker.database]?.zones[name]
        }

        func stored(_ place: ReferencePlace) -> ReferenceRecord? {
            zone(place.zone)?.records[place.name]
        }

        func isAtomic(_ name: ReferenceName) -> Bool {
            guard request.isAtomic || store.bends(.everyRequestIsAtomic), !store.bends(.atomicIgnored) else {
                return false
            }
            if name == .defaultZone, store.bends(.defaultZoneIsAtomic) { return true }
            guard let zone = zone(name), zone.isAlive else { return false }
            return zone.capabilities.contains(.atomic)
        }

        /// Whether a save of an atomic zone failed, so that no delete in it will be done.
        func isBlocked(_ name: ReferenceName) -> Bool {
            isAtomic(name)
                && saves.indices.contains {
                    saveRefusals[$0] != nil && saves[$0].place.zone == name && saves[$0].place.owner == ""
                }
        }

        private func recordsAfterSaves(in name: ReferenceName) -> [ReferenceName: ReferenceRecord] {
            var records = zone(name)?.records ?? [:]
            guard !isBlocked(name), !store.bends(.deletesSeeStateBefore) else { return records }
            for index in saves.indices where saves[index].place.zone == name && saveRefusals[index] == nil {
                records[saves[index].place.name] = merged[index]
            }
            return records
        }

        /// docs/rules.md §8.
        private mutating func failWholeZones() {
            let failed =
                saves.indices.filter { saveRefusals[$0] != nil }.map { saves[$0].place }
                + deletes.indices.filter { deleteRefusals[$0] != nil }.map { deletes[$0] }
            var zones = Set(failed.filter { $0.owner == "" }.map(\.zone)).filter(isAtomic)
            if !zones.isEmpty, store.bends(.atomicReachesOtherZones) { zones = zonesWithItems }
            let refusal = Refusal(.batchRequestFailed, "another item of the zone failed", rule: .atomicZone)
            // Items of other owners' zones have failed already, so that names of zones tell enough.
            for index in saves.indices where saveRefusals[index] == nil && zones.contains(saves[index].place.zone) {
                saveRefusals[index] = refusal
            }
            for index in deletes.indices where deleteRefusals[index] == nil && zones.contains(deletes[index].zone) {
                deleteRefusals[index] = refusal
            }
            going.removeAll { zones.contains($0.zone) }
            left.removeAll { zones.contains($0.zone) }
        }
    }
}
