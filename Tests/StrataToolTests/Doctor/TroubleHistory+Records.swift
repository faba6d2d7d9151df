import StrataModel

@testable import StrataTool

/// Updates and deletions of records: planted, and nearly so.
extension TroubleHistory {
    // MARK: Overwritten values

    func lostUpdate() throws {
        let (zone, name) = (try zone(), fresh("stock"))
        let base = try save(name, ["qty": .int64(5), "title": .string("a")], in: zone)
        try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        try save(name, ["qty": .int64(4)], in: zone, base: base)
        expect(.overwrite, name, at: store.offset)
    }

    func lostByAllKeys() throws {
        let (zone, name) = (try zone(), fresh("stock"))
        let base = try save(name, ["qty": .int64(5), "title": .string("a")], in: zone)
        let next = try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        if random.next(below: 2) == 0 { try save(name, ["note": .string("n")], in: zone, base: next, as: tablet) }
        // The quantity that it had read goes back with its own change of the title.
        try save(name, ["qty": .int64(5), "title": .string("b")], in: zone, base: base, .allKeys)
        expect(.overwrite, name, at: store.offset)
    }

    func lostWithoutBase() throws {
        let (zone, name) = (try zone(), fresh("settings"))
        try save(name, ["theme": .string("dark")], in: zone, as: tablet)
        try save(name, ["theme": .string("light")], in: zone)
        expect(.overwrite, name, at: store.offset)
    }

    /// Both changed another field.
    func mergedUpdate() throws {
        let (zone, name) = (try zone(), fresh("merged"))
        let base = try save(name, ["qty": .int64(5), "title": .string("a")], in: zone)
        try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        try save(name, ["title": .string("b")], in: zone, base: base)
    }

    func currentUpdate() throws {
        let (zone, name) = (try zone(), fresh("current"))
        let base = try save(name, ["qty": .int64(5)], in: zone)
        let next = try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        try save(name, ["qty": .int64(4)], in: zone, base: next)
    }

    /// A device sends a second change before it has the answer to its first.
    func pipelinedUpdates() throws {
        let (zone, name) = (try zone(), fresh("pipelined"))
        let base = try save(name, ["qty": .int64(5)], in: zone)
        for quantity in 0..<4 { try save(name, ["qty": .int64(Int64(quantity))], in: zone, base: base, as: tablet) }
    }

    /// Both wrote the same.
    func sameValue() throws {
        let (zone, name) = (try zone(), fresh("same"))
        let base = try save(name, ["qty": .int64(5)], in: zone)
        try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        try save(name, ["qty": .int64(7)], in: zone, base: base)
    }

    /// The value that the client had seen is there again.
    func changedBack() throws {
        let (zone, name) = (try zone(), fresh("back"))
        let base = try save(name, ["qty": .int64(5)], in: zone)
        let next = try save(name, ["qty": .int64(7)], in: zone, base: base, as: tablet)
        try save(name, ["qty": .int64(5)], in: zone, base: next, as: tablet)
        try save(name, ["qty": .int64(4)], in: zone, base: base)
    }

    /// A device writes its own record again and again, without reading it.
    func ownUpsert() throws {
        let (zone, name) = (try zone(), fresh("upsert"))
        try save(fresh("other"), ["status": .int64(0)], in: zone, as: tablet)
        for status in 0..<3 { try save(name, ["status": .int64(Int64(status))], in: zone) }
    }

    // MARK: Back and forth

    private func alternate(_ values: [Int64], by actors: [StrataModel.Actor]) throws -> (name: String, first: UInt64) {
        let (zone, name) = (try zone(), fresh("switch"))
        var version = try save(name, ["on": .int64(values[0])], in: zone)
        var first: UInt64 = 0
        for (index, value) in values.dropFirst().enumerated() {
            version = try save(name, ["on": .int64(value)], in: zone, base: version, as: actors[index % actors.count])
            if index == 5 { first = store.offset }
        }
        return (name, first)
    }

    func backAndForth() throws {
        let (name, first) = try alternate([0, 1, 0, 1, 0, 1, 0], by: [tablet, phone])
        expect(.backAndForth, name, at: first)
    }

    func toggledAlone() throws { _ = try alternate([0, 1, 0, 1, 0, 1, 0, 1], by: [phone]) }
    func wentBack() throws { _ = try alternate([0, 1, 0, 1, 0, 1], by: [tablet, phone]) }
    func countedInTurns() throws { _ = try alternate([0, 1, 2, 3, 4, 5, 6], by: [tablet, phone]) }

    // MARK: Deletions

    func cascade() throws {
        let (zone, list, item) = (try zone(), fresh("list"), fresh("item"))
        try save(list, [:], in: zone)
        var builder = RequestBuilder(home, policy: .changedKeys)
        let owner = builder.reference(to: RecordID(list, zone: zone), action: .deleteSelf)
        builder.save(RecordID(item, zone: zone), type: "Item", fields: ["list": owner])
        try modify(builder.request, as: phone)
        expect(.cascade, item, at: try delete([list], in: zone))
    }

    func plainDeletion() throws {
        let (zone, name) = (try zone(), fresh("plain"))
        try save(name, [:], in: zone)
        try save(fresh("other"), [:], in: zone)
        try delete([name], in: zone)
    }

    func zoneWithRecords() throws {
        let zone = try zone()
        try save(fresh("doomed"), [:], in: zone)
        expect(.zoneDeletion, zone.name, at: try modify(.zones(deleting: [zone]), as: phone))
    }

    func emptyZone() throws {
        let (zone, name) = (try zone(), fresh("early"))
        try save(name, [:], in: zone)
        try delete([name], in: zone)
        try modify(.zones(deleting: [zone]), as: phone)
    }

    /// Fills a zone in one request.
    private func filled(_ count: Int) throws -> (zone: ZoneID, names: [String]) {
        let zone = try zone()
        var builder = RequestBuilder(home)
        let names = (0..<count).map { _ in fresh("mass") }
        for name in names { builder.save(RecordID(name, zone: zone), type: "Item") }
        try modify(builder.request, as: phone)
        return (zone, names)
    }

    func massDeletion() throws {
        let (zone, names) = try filled(30)
        let first = try delete(Array(names[..<13]), in: zone)
        try delete(Array(names[13..<20 + random.next(below: 10)]), in: zone)
        expect(.massDeletion, zone.name, at: first)
    }

    func fewDeletions() throws {
        let (zone, names) = try filled(22)
        try delete(Array(names[..<19]), in: zone)
    }

    /// Each deletion comes more than a minute after the one before it.
    func slowDeletions() throws {
        let (zone, names) = try filled(24)
        for start in stride(from: 0, to: 24, by: 8) {
            try delete(Array(names[start..<start + 8]), in: zone)
            time.advance(byMicroseconds: 61 * Self.second)
        }
    }

    /// Less than a fifth of the zone.
    func smallShare() throws {
        let (zone, names) = try filled(130)
        try delete(Array(names[..<25]), in: zone)
    }
}
