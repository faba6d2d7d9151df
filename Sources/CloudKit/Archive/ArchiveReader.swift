import Foundation

/// Reads objects from an archive as Apple's platforms write it, which may be damaged (B17).
///
/// With Foundation's own policy damage ends the process; with this one it is an error, which ``isIntact`` asks for.
/// What we write ourselves is an ``ArchiveBlock`` and needs none of this.
struct ArchiveReader {
    private let coder: NSCoder

    init(_ coder: NSCoder) {
        self.coder = coder
        Self.forgive(coder)
    }

    /// From now on damage is an error. Foundation takes a policy only before the first value is decoded, so that it
    /// stays; where that was before, the caller's own policy holds.
    static func forgive(_ coder: NSCoder) {
        guard let unarchiver = coder as? NSKeyedUnarchiver, unarchiver.decodingFailurePolicy != .setErrorAndReturn,
            !hasStarted(unarchiver)
        else { return }
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
    }

    /// Once something was decoded, setting a policy traps, and nothing public says that it was.
    private static func hasStarted(_ unarchiver: NSKeyedUnarchiver) -> Bool {
        let flags = Mirror(reflecting: unarchiver).descendant("_flags", "rawValue") as? UInt
        return flags.map { $0 & 4 != 0 } ?? true
    }

    /// Whether nothing went wrong so far.
    var isIntact: Bool { coder.error == nil }

    func contains(_ key: String) -> Bool { isIntact && coder.containsValue(forKey: key) }

    /// Foundation traps on a class that was not expected: all that a damaged reference may lead to are, and the cast
    /// tells them apart.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, _ key: String) -> Object? {
        guard contains(key), ArchiveGraph(coder)?.isSound(key) ?? true else { return nil }
        return coder.decodeObject(of: [type] + ArchivedClasses.expected, forKey: key) as? Object
    }

    func string(_ key: String) -> String? { object(NSString.self, key).map { String(describing: $0) } }
    func data(_ key: String) -> [UInt8]? { object(NSData.self, key).map { [UInt8](Data(referencing: $0)) } }

    func date(_ key: String) -> Date? {
        object(NSDate.self, key).map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }

    func integer(_ key: String) -> Int64? { contains(key) ? coder.decodeInt64(forKey: key) : nil }
    func bool(_ key: String) -> Bool? { contains(key) ? coder.decodeBool(forKey: key) : nil }

    /// A list of objects of one class; nil if there is none, or something else is among them.
    func list<Object: NSObject>(of type: Object.Type, _ key: String) -> [Object]? {
        object(NSArray.self, key).flatMap { Array($0) as? [Object] }
    }

    /// A list of texts; nil if there is none, or something else is among them.
    func strings(_ key: String) -> [String]? {
        guard let values = object(NSArray.self, key).map({ Array($0) }) else { return nil }
        let texts = values.compactMap { $0 as? String ?? ($0 as? NSString)?.description }
        return texts.count == values.count ? texts : nil
    }
}
