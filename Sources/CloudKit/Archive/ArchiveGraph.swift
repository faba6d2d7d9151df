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
    let visits: Visits

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
        let going = Visits.current.flatMap { $0.unarchiver === unarchiver ? $0 : nil }
        visits = going ?? Visits(unarchiver)
    }

    /// Returns true if Foundation can decode everything that a key of the object being decoded refers to.
    func isSound(_ key: String) -> Bool {
        fields[key].map { content(of: $0) == .decodable } ?? true
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

    /// Returns a text, whether the archive has it inline or as an object.
    func text(_ reference: Any?) -> String? {
        let object = object(reference)
        return object as? String ?? (object as? [String: Any])?["NS.string"] as? String
    }

    func url(_ reference: Any?) -> URL? {
        (object(reference) as? [String: Any]).flatMap { text($0["NS.relative"]) }.flatMap { URL(string: $0) }
    }

    // MARK: Soundness

    /// The content of a reference, the worst last.
    fileprivate enum Content: Int {
        case decodable
        /// There is an object of a class that is not expected. An object of this module may refer to it, since such an
        /// object decodes no keys but those it knows, and checks each of them first. Foundation's collections decode
        /// all they contain.
        case opaque
        case damaged
    }

    /// The objects that were looked at, so that each is looked at once in an archive.
    // @unchecked: the call stack of one decoding uses it.
    final class Visits: @unchecked Sendable {
        /// The visits of the decoding that is going on; objects within others are decoded in its calls.
        @TaskLocal static var current: Visits?

        fileprivate let unarchiver: NSKeyedUnarchiver
        fileprivate var path: Set<Int> = []
        fileprivate var done: [Int: Content] = [:]

        fileprivate init(_ unarchiver: NSKeyedUnarchiver) { self.unarchiver = unarchiver }
    }

    private static let deepest = 100

    private func content(of value: Any) -> Content {
        if let values = value as? [Any] { return worst(of: values) }
        guard let index = Self.index(value) else { return .decodable }
        if let known = visits.done[index] { return known }
        guard objects.indices.contains(index), visits.path.count < Self.deepest,
            visits.path.insert(index).inserted
        else { return .damaged }
        let content = (objects[index] as? [String: Any]).map { self.content(ofObject: $0) } ?? .decodable
        visits.path.remove(index)
        visits.done[index] = content
        return content
    }

    private func content(ofObject object: [String: Any]) -> Content {
        guard object["$class"] != nil else { return .decodable }
        guard let name = className(of: object) else { return .damaged }
        let type: AnyClass? =
            unarchiver.class(forClassName: name) ?? NSKeyedUnarchiver.class(forClassName: name)
            ?? NSClassFromString(name)
        guard let type, ArchivedClasses.expected.contains(where: { $0 == type }) else { return .opaque }
        let isOwn = ArchivedClasses.own.contains { $0 == type }
        guard isOwn || Self.isWellFormed(object, type) else { return .damaged }
        let worst = worst(of: object.compactMap { $0.key == "$class" ? nil : $0.value })
        return worst == .opaque && isOwn ? .decodable : worst
    }

    /// Returns true if an object of one of Foundation's classes has the values that Foundation takes for granted.
    private static func isWellFormed(_ object: [String: Any], _ type: AnyClass) -> Bool {
        switch type {
        case is NSString.Type: object["NS.string"] is String
        case is NSData.Type: object["NS.data"] is Data
        case is NSDate.Type: object["NS.time"] != nil
        case is NSArray.Type, is NSSet.Type: object["NS.objects"] is [Any]
        case is NSDictionary.Type:
            (object["NS.keys"] as? [Any]).map { $0.count == (object["NS.objects"] as? [Any])?.count } ?? false
        // A number is no object of an archive.
        default: false
        }
    }

    private func worst(of values: [Any]) -> Content {
        var worst = Content.decodable
        for value in values {
            let content = content(of: value)
            if content.rawValue > worst.rawValue { worst = content }
        }
        return worst
    }

    /// Returns the index of the object that a reference refers to; nil for other values.
    private static func index(_ value: Any) -> Int? {
        guard "\(type(of: value))" == "_NSKeyedArchiverUID" else { return nil }
        return (Mirror(reflecting: value).descendant("value") as? UInt32).map { Int($0) }
    }
}
