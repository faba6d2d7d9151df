import StrataModel
import StrataTree

extension ViewTree {
    package static let zoneChanges = TreeID(rawValue: 3)
}

/// The last change of each zone, for the feeds of databases: database, offset, zone → nothing. They are written
/// together with the rows of zones.
enum ZoneChangesMaintainer: ViewMaintainer {
    static let tree = ViewTree.zoneChanges
    static let name = "zone changes"

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let offset = try reader.readNumber()
        return "change by commit \(offset) of \(words.zone(try reader.readNumber()))"
    }

    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = KeyReader(entry.key)
        _ = try reader.readNumber()
        return try reader.readNumber()
    }
}

extension ViewKeys {
    static func zoneChange(_ database: UInt64, _ offset: UInt64, _ zone: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: offset)
        key.append(number: zone)
        return key.bytes
    }
}
