import StrataModel
import TestSupport

/// The names of sample histories and the ordinals that they got, either ahead of everything in any order, or when they
/// are first used.
struct HistoryNames {
    /// A name by its number in the sample.
    enum Logical: Hashable {
        case user(Int)
        case device(user: Int, Int)
        case database(Int)
        case zone(Int)
        case type(Int)
        case field(Int)
    }

    static let userCount = 3
    static let devicesPerUser = 2
    static let typeCount = 3
    static let fieldCount = 16
    static let databaseCount = 7
    /// The database of each zone that has records.
    static let databaseOfZone = [0, 1, 1, 1, 2, 2, 3, 4]
    static var zoneCount: Int { databaseOfZone.count }
    // So many that ordinals need two bytes, in tables and in keys.
    private static let allZones = 270
    private static let allFields = 300

    private static let zoneTexts = [
        "_defaultZone", "", "Notes", "\u{0}", "Notes\u{0}", "Zoe\u{308}", "Zo\u{EB}", longest,
    ]

    private(set) var ordinals: [Logical: UInt64] = [:]
    private var counts: [Namespace: UInt64] = [:]
    /// Events that are to come before the next use.
    private(set) var pending: [Event] = []

    mutating func takePending() -> [Event] {
        defer { pending = [] }
        return pending
    }

    /// Gives every name an ordinal now, in an order that the seed decides.
    mutating func internAll(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let users = (0..<Self.userCount).map { Logical.user($0) }
        let devices = (0..<Self.userCount).flatMap { user in
            (0..<Self.devicesPerUser).map { Logical.device(user: user, $0) }
        }
        let groups = [
            users, devices, (0..<Self.databaseCount).map { .database($0) }, (0..<Self.allZones).map { .zone($0) },
            (0..<Self.typeCount).map { .type($0) }, (0..<Self.allFields).map { .field($0) },
        ]
        for group in groups { for name in group.shuffled(using: &generator) { _ = ordinal(name) } }
    }

    mutating func ordinal(_ name: Logical) -> UInt64 {
        if let known = ordinals[name] { return known }
        let stored = stored(name)
        let ordinal = (counts[stored.namespace] ?? 0) + 1
        counts[stored.namespace] = ordinal
        ordinals[name] = ordinal
        pending.append(InternedName(ordinal: ordinal, name: stored).event)
        return ordinal
    }

    private mutating func stored(_ name: Logical) -> InternedName.Name {
        switch name {
        case .user(let user): return .user(user == 0 ? Self.longest : "user \(user)")
        case .device(let user, let device):
            return .device(user: ordinal(.user(user)), device == 0 ? Self.longest : "device \(device)")
        case .database(let database):
            if database == 0 { return .database(.public, owner: 0) }
            let owner = ordinal(.user((database - 1) % Self.userCount))
            return .database(database <= Self.userCount ? .private : .shared, owner: owner)
        case .zone(let zone):
            let database = zone < Self.zoneCount ? Self.databaseOfZone[zone] : 1
            let text = zone < Self.zoneCount ? Self.zoneTexts[zone] : "spare \(zone)"
            let owner = database == 0 ? 0 : ordinal(.user((database - 1) % Self.userCount))
            return .zone(database: ordinal(.database(database)), owner: owner, text)
        case .type(let type): return .recordType(type == 0 ? Self.longest : "Type\(type)")
        case .field(let field): return .field(field == 0 ? Self.longest : "field \(field)")
        }
    }

    private static let recordTexts = [
        "", "\u{0}", "\u{1}", "\u{0}\u{0}", "a", "a\u{0}", "a\u{0}b", "a\u{1}", "aa", "e\u{301}", "\u{E9}",
        "\u{10FFFF}",
        String(repeating: "long ", count: 50), longest, longest + "\u{0}", String(repeating: "\u{1}", count: 300),
        String(repeating: "\u{1}", count: 301), String(repeating: "\u{0}", count: 4_096),
        // Whole UUIDs, and names that are nearly such.
        "0059E3A1-07F3-4C52-9B0E-0101D2000000", "0059e3a1-07f3-4c52-9b0e-0101d2000000",
        "0059E3A1-07F3-4C52-9B0E-0101D200000", "0059E3A1-07F3-4C52-9B0E-0101D2000000\u{0}",
        "0059E3A1-07F3-4C52-9B0E-0101D200000G", "0059E3A1-",
    ]
    /// As many bytes as 255 characters can have.
    static let longest = String(repeating: "\u{1F9F6}", count: 255)
    static let recordCount = 41

    static func record(_ number: Int) -> String {
        number < recordTexts.count ? recordTexts[number] : "record-\(number)"
    }
}
