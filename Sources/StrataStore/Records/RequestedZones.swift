import StrataModel
import StrataTree

/// The zones of requested records. Most requests name one.
struct RequestedZones {
    struct Zone {
        let reader: ZoneReader
        let origin: RecordOrigin
        /// Nil if all records of the zone may be read.
        var access: RecordAccess?
    }

    private var zones: [Zone] = []
    /// The place in `zones` of each record's zone; empty if there is only one.
    private var places: [Int32] = []
    private var keys = KeyList()

    /// - Parameters:
    ///   - desiredKeys: nil for all.
    ///   - reader: returns the reader of a zone.
    init(_ ids: [RecordID], _ desiredKeys: FieldSet?, _ reader: (ZoneID) throws -> ZoneReader) throws {
        var known: [ZoneID: Int] = [:]
        var place = 0
        // By index, because a loop over the IDs would copy each.
        for index in ids.indices {
            if zones.isEmpty || zones[place].reader.zone != ids[index].zone {
                let id = ids[index].zone
                if let found = known[id] {
                    place = found
                } else {
                    let reader = try reader(id)
                    place = zones.count
                    known[id] = place
                    let origin = desiredKeys.map { reader.origin.desiring($0) } ?? reader.origin
                    zones.append(Zone(reader: reader, origin: origin, access: reader.limitedAccess))
                    if zones.count == 2 { places = Array(repeating: 0, count: index) }
                }
            }
            if zones.count > 1 { places.append(Int32(place)) }
            zones[place].reader.appendKey(of: ids[index].name, to: &keys)
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
