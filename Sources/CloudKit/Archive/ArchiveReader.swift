import Foundation

/// Reads objects from an archive in the format of Apple's platforms, which may be damaged (B17).
///
/// With Foundation's default policy, damage traps; with this one it is an error, which ``isIntact`` reports. Archives
/// that this module writes are an ``ArchiveBlock`` and need none of this.
final class ArchiveReader {
    private let coder: NSCoder
    /// The undecoded objects, as the object being decoded refers to them.
    private lazy var graph = ArchiveGraph(coder)
    private var isDamaged = false

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

    /// True if all requested objects could be decoded so far.
    var isIntact: Bool { coder.error == nil && !isDamaged }

    func contains(_ key: String) -> Bool { isIntact && coder.containsValue(forKey: key) }

    /// Decodes an object of a class. Foundation traps on unexpected classes; therefore all classes that a damaged
    /// reference may lead to are expected, and the cast checks the type.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, _ key: String) -> Object? {
        guard contains(key) else { return nil }
        guard graph?.isSound(key) ?? true else {
            isDamaged = true
            return nil
        }
        return ArchiveGraph.Visits.$current.withValue(graph?.visits) {
            coder.decodeObject(of: [type] + ArchivedClasses.expected, forKey: key) as? Object
        }
    }

    func string(_ key: String) -> String? { object(NSString.self, key).map { String(describing: $0) } }
    func data(_ key: String) -> [UInt8]? { object(NSData.self, key).map { [UInt8](Data(referencing: $0)) } }

    func date(_ key: String) -> Date? {
        object(NSDate.self, key).map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }

    /// Returns a URL, which Foundation need not decode.
    func url(_ key: String) -> URL? { graph.flatMap { $0.url($0.object(forKey: key)) } }

    /// Returns a text of an object whose class is not decoded, at the end of a path of keys.
    func text(_ path: String...) -> String? {
        guard let graph, let first = path.first else { return nil }
        var value = graph.object(forKey: first)
        for key in path.dropFirst() { value = graph.object((value as? [String: Any])?[key]) }
        return graph.text(value)
    }

    /// Returns the case with a number; nil if there is no number, or no case with it.
    func value<Value: RawRepresentable<Int>>(_ key: String) -> Value? {
        integer(key).flatMap { Int(exactly: $0) }.flatMap { Value(rawValue: $0) }
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
