import StrataModel
import StrataTree

/// The zones of requested records. Most requests name one.
struct RequestedZones {
    struct Zone {
        let refusal: Refusal?
        let origin: RecordOrigin
        var access: RecordAccess
    }

    private var zones: [Zone] = []
    /// The place in `zones` of each record's zone; empty if there is only one.
    private var places: [Int32] = []
    private var keys = KeyList()

    /// - Parameters:
    ///   - desiredKeys: nil for all.
    ///   - reader: returns the reader of a zone.
    init(_ ids: [RecordID], _ desiredKeys: FieldSet?, _ reader: (ZoneID) throws -> ZoneReader) throws {
        var known: [ZoneID: (place: Int, reader: ZoneReader)] = [:]
        var last: (id: ZoneID, place: Int, reader: ZoneReader)?
        for (index, id) in ids.enumerated() {
            let zone: (id: ZoneID, place: Int, reader: ZoneReader)
            if let last, last.id == id.zone {
                zone = last
            } else if let found = known[id.zone] {
                zone = (id.zone, found.place, found.reader)
            } else {
                let reader = try reader(id.zone)
                zone = (id.zone, zones.count, reader)
                known[id.zone] = (zones.count, reader)
                let origin = desiredKeys.map { reader.origin.desiring($0) } ?? reader.origin
                zones.append(Zone(refusal: reader.refusal, origin: origin, access: reader.access))
                if zones.count == 2 { places = Array(repeating: 0, count: index) }
            }
            if zones.count > 1 { places.append(Int32(zone.place)) }
            zone.reader.appendKey(of: id.name, to: &keys)
            last = zone
        }
    }

    /// Returns the keys of the records, in order.
    mutating func takeKeys() -> KeyList {
        defer { keys = KeyList() }
        return keys
    }

    /// Calls `body` with the zone of the record at an index.
    mutating func withZone<Result>(of index: Int, _ body: (inout Zone) throws -> Result) rethrows -> Result {
        try body(&zones[places.isEmpty ? 0 : Int(places[index])])
    }
}
