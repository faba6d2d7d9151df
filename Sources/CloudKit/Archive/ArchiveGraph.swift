import Foundation

/// The undecoded objects of an archive, to be checked before Foundation decodes them.
///
/// Foundation traps if a damaged archive refers to a missing class, to an unexpected one, or to itself. No public
/// method detects this in advance, so the graph reads the unarchiver's private state. If that cannot be read, the
/// archive counts as sound.
struct ArchiveGraph {
    private let objects: [Any]
    private let unarchiver: NSKeyedUnarchiver
    private let fields: [String: Any]

    init?(_ coder: NSCoder) {
        guard let unarchiver = coder as? NSKeyedUnarchiver else { return nil }
        let mirror = Mirror(reflecting: unarchiver)
        guard let objects = mirror.descendant("_objects") as? [Any],
            let containers = mirror.descendant("_containers") as Any?,
            let current = Mirror(reflecting: containers).children.first.map({ Mirror(reflecting: $0.value) }),
            let innermost = current.children.reversed().first?.value,
            let fields = Mirror(reflecting: innermost).descendant("dict") as? [String: Any]
        else { return nil }
        self.objects = objects
        self.unarchiver = unarchiver
        self.fields = fields
    }

    /// Returns true if everything that a key of the object being decoded refers to can be decoded.
    func isSound(_ key: String) -> Bool {
        var visits = Visits()
        return fields[key].map { isSound($0, &visits) } ?? true
    }

    /// Returns the value under a key of the object being decoded: a text, number, data, or the fields of an object.
    func object(forKey key: String) -> Any? { fields[key].flatMap { object($0) } }

    /// Resolves a reference to its object; returns other values unchanged, and nil for a null reference.
    func object(_ value: Any?) -> Any? {
        guard let value else { return nil }
        guard let index = Self.index(value) else { return value }
        return index > 0 && objects.indices.contains(index) ? objects[index] : nil
    }

    func className(of object: [String: Any]) -> String? {
        (self.object(object["$class"]) as? [String: Any])?["$classname"] as? String
    }

    private struct Visits {
        var path: Set<Int> = []
        var done: Set<Int> = []
    }

    private static let deepest = 100

    private func isSound(_ value: Any, _ visits: inout Visits) -> Bool {
        if let values = value as? [Any] { return values.allSatisfy { isSound($0, &visits) } }
        guard let index = Self.index(value) else { return true }
        if visits.done.contains(index) { return true }
        guard objects.indices.contains(index), visits.path.count < Self.deepest,
            visits.path.insert(index).inserted
        else { return false }
        if let object = objects[index] as? [String: Any], let reference = object["$class"] {
            guard isExpected(reference),
                Self.count(object["NS.keys"]) == nil
                    || Self.count(object["NS.keys"]) == Self.count(object["NS.objects"])
            else { return false }
            // Foundation never decodes the values of a record.
            for (key, part) in object where !["$class", "ValueStore", "EncryptedValueStore"].contains(key) {
                guard isSound(part, &visits) else { return false }
            }
        }
        visits.path.remove(index)
        visits.done.insert(index)
        return true
    }

    private static func count(_ list: Any?) -> Int? { (list as? [Any])?.count }

    private func isExpected(_ reference: Any) -> Bool {
        guard let index = Self.index(reference), objects.indices.contains(index),
            let name = (objects[index] as? [String: Any])?["$classname"] as? String,
            let type = unarchiver.class(forClassName: name) ?? NSKeyedUnarchiver.class(forClassName: name)
                ?? NSClassFromString(name)
        else { return false }
        return ArchivedClasses.expected.contains { $0 == type }
    }

    /// Returns the index of the object that a reference refers to; nil for other values.
    private static func index(_ value: Any) -> Int? {
        guard "\(type(of: value))" == "_NSKeyedArchiverUID" else { return nil }
        return (Mirror(reflecting: value).descendant("value") as? UInt32).map { Int($0) }
    }
}
