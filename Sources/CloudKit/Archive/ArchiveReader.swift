import Foundation

/// Reads objects from an archive in the format of Apple's platforms, which may be damaged (B17).
///
/// With Foundation's default policy, damage traps; with this one it is an error, which ``isIntact`` reports. Archives
/// that this module writes are an ``ArchiveBlock`` and need none of this.
struct ArchiveReader {
    private let coder: NSCoder

    init(_ coder: NSCoder) {
        self.coder = coder
        Self.forgive(coder)
    }

    /// Turns damage into an error from now on. Foundation accepts a policy only before the first value is decoded, so
    /// the policy stays; after that, the caller's own policy applies.
    static func forgive(_ coder: NSCoder) {
        guard let unarchiver = coder as? NSKeyedUnarchiver, unarchiver.decodingFailurePolicy != .setErrorAndReturn,
            !hasStarted(unarchiver)
        else { return }
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
    }

    /// Returns true if a value has been decoded: setting a policy would trap then. No public property tells this.
    private static func hasStarted(_ unarchiver: NSKeyedUnarchiver) -> Bool {
        let flags = Mirror(reflecting: unarchiver).descendant("_flags", "rawValue") as? UInt
        return flags.map { $0 & 4 != 0 } ?? true
    }

    /// True if no error has occurred so far.
    var isIntact: Bool { coder.error == nil }

    func contains(_ key: String) -> Bool { isIntact && coder.containsValue(forKey: key) }

    /// Decodes an object of a class. Foundation traps on unexpected classes; therefore all classes that a damaged
    /// reference may lead to are expected, and the cast checks the type.
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

    /// Returns a list of objects of one class; nil if it is missing or contains others.
    func list<Object: NSObject>(of type: Object.Type, _ key: String) -> [Object]? {
        object(NSArray.self, key).flatMap { Array($0) as? [Object] }
    }

    /// Returns a list of texts; nil if it is missing or contains other objects.
    func strings(_ key: String) -> [String]? {
        guard let values = object(NSArray.self, key).map({ Array($0) }) else { return nil }
        let texts = values.compactMap { $0 as? String ?? ($0 as? NSString)?.description }
        return texts.count == values.count ? texts : nil
    }
}
