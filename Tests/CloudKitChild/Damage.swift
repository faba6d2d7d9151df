import CloudKit
import Glibc

/// Decodes a damaged archive as what it was, in every way that there is, and counts what was noticed.
struct Damage {
    private(set) var tries = 0
    private(set) var refused = 0

    /// Returns true if an object of a binary property list is a set. Foundation's own initializer, which clients call
    /// for system fields, ends the process at one.
    private func hasSet(_ data: Data) -> Bool {
        let bytes = [UInt8](data)
        guard bytes.count > 32, bytes.starts(with: Array("bplist".utf8)) else { return false }
        func number(at start: Int, count: Int) -> Int? {
            guard count > 0, count <= 8, start >= 0, start <= bytes.count - count else { return nil }
            return Int(exactly: bytes[start..<start + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        let trailer = bytes.count - 32
        let size = Int(bytes[trailer + 6])
        guard let count = number(at: trailer + 8, count: 8), let table = number(at: trailer + 24, count: 8),
            count <= bytes.count, table <= bytes.count
        else { return false }
        return (0..<count).contains { index in
            guard let place = number(at: table + index * size, count: size), place < bytes.count else { return false }
            return bytes[place] & 0xF0 == 0xC0
        }
    }

    mutating func all(of data: Data, _ read: (Data) -> NSObject?) {
        // Of long archives some bytes for each mask, but not the same.
        let step = data.count < 2_000 ? 1 : data.count / 500
        for (start, mask) in ([0x01, 0x04, 0x10, 0x80, 0xFF] as [UInt8]).enumerated() {
            for index in data.indices where index % step == start % step {
                var damaged = data
                damaged[index] ^= mask
                if !hasSet(damaged) { one(damaged, read) }
            }
        }
        for count in data.indices where count % step == 0 { one(data.prefix(count), read) }
    }

    private mutating func one(_ data: Data, _ read: (Data) -> NSObject?) {
        tries += 1
        guard let object = read(data) else {
            refused += 1
            return
        }
        // What is decoded must be of use too.
        if "\(object)".isEmpty || !object.isEqual(object) { refused += 1 }
    }
}

/// The class that the name of a file begins with, as one that archives it.
private func reader(of name: String) -> ((Data) -> NSObject?)? {
    func root<Value: NSObject & NSCoding & _CKArchived>(_ type: Value.Type) -> (Data) -> NSObject? {
        { (try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: $0)) ?? nil }
    }
    switch name.prefix(while: { $0 != "-" && $0 != "." }) {
    case "CKRecord": return root(CKRecord.self)
    case "CKShare": return root(CKShare.self)
    case "CKShareParticipant": return root(CKShare.Participant.self)
    case "CKShareMetadata": return root(CKShare.Metadata.self)
    case "CKAsset": return root(CKAsset.self)
    case "CKRecordID": return root(CKRecord.ID.self)
    case "CKReference": return root(CKRecord.Reference.self)
    case "CKRecordZone": return root(CKRecordZone.self)
    case "CKRecordZoneID": return root(CKRecordZone.ID.self)
    case "CKServerChangeToken": return root(CKServerChangeToken.self)
    case "CKQuery": return root(CKQuery.self)
    case "CKQueryCursor": return root(CKQueryOperation.Cursor.self)
    case "CKQuerySubscription": return root(CKQuerySubscription.self)
    case "CKRecordZoneSubscription": return root(CKRecordZoneSubscription.self)
    case "CKDatabaseSubscription": return root(CKDatabaseSubscription.self)
    case "CKNotificationInfo": return root(CKSubscription.NotificationInfo.self)
    case "CKOperationGroup": return root(CKOperationGroup.self)
    case "CKFetchRecordZoneChangesConfiguration":
        return root(CKFetchRecordZoneChangesOperation.ZoneConfiguration.self)
    // System fields lie in the archive itself, not in a root object.
    case "SystemFields": return { (try? NSKeyedUnarchiver(forReadingFrom: $0)).flatMap { CKRecord(coder: $0) } }
    case "ShareSystemFields":
        return { (try? NSKeyedUnarchiver(forReadingFrom: $0)).flatMap { CKShare(coder: $0) } }
    default: return nil
    }
}

func damage(_ path: String) throws {
    let url = URL(fileURLWithPath: path)
    guard let read = reader(of: url.lastPathComponent) else { fail("of no class: \(path)") }
    let data = try Data(contentsOf: url)
    guard read(data) != nil else { fail("damaged already: \(path)") }
    // Foundation complains of much that it refuses.
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)
    var damage = Damage()
    damage.all(of: data, read)
    say("\(damage.tries) \(damage.refused)")
}
