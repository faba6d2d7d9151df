import Foundation

/// Reads one object's values from an archive that may be damaged or somebody else's (B17).
///
/// With Foundation's own policy some damage ends the process; with this one it is an error, which ``isIntact`` asks
/// for. The policy is put back when the reader goes.
final class ArchiveReader {
    private let coder: NSCoder
    private let unarchiver: NSKeyedUnarchiver?
    private let policy: NSCoder.DecodingFailurePolicy

    init(_ coder: NSCoder) {
        self.coder = coder
        unarchiver = coder as? NSKeyedUnarchiver
        policy = unarchiver?.decodingFailurePolicy ?? .setErrorAndReturn
        unarchiver?.decodingFailurePolicy = .setErrorAndReturn
    }

    deinit { unarchiver?.decodingFailurePolicy = policy }

    /// Whether nothing went wrong so far.
    var isIntact: Bool { coder.error == nil }

    /// An unarchiver that was not asked for secure coding does not look at classes: the cast does.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, _ key: String) -> Object? {
        guard isIntact, coder.containsValue(forKey: key) else { return nil }
        return coder.decodeObject(of: [type], forKey: key) as? Object
    }

    func string(_ key: String) -> String? { object(NSString.self, key).map { String(describing: $0) } }
    func date(_ key: String) -> Date? {
        object(NSDate.self, key).map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }
    func data(_ key: String) -> [UInt8]? { object(NSData.self, key).map { [UInt8](Data(referencing: $0)) } }

    func integer(_ key: String) -> Int64? {
        guard isIntact, coder.containsValue(forKey: key) else { return nil }
        return coder.decodeInt64(forKey: key)
    }
}
