import Foundation
import StrataQuery

/// The sort descriptor that `NSSortDescriptor(key:ascending:)` creates on Linux, with its key. Immutable.
final class KeySortDescriptor: NSSortDescriptor, SecurelyCoded {
    let sortKey: String

    init(key: String, ascending: Bool) {
        sortKey = key
        super.init(keyPath: \CKRecord.[sortedBy: key], ascending: ascending)
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let first = SortedValue(PredicateObject(object1)?.predicateValue(forKey: sortKey))
        let second = SortedValue(PredicateObject(object2)?.predicateValue(forKey: sortKey))
        let order = first.order(to: second)
        return ascending ? order : order.reversed
    }

    override var reversedSortDescriptor: Any { KeySortDescriptor(key: sortKey, ascending: !ascending) }
    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        return other.sortKey.utf8.elementsEqual(sortKey.utf8) && other.ascending == ascending
    }

    override var hash: Int { Array(sortKey.utf8).hashValue }
    override var description: String { "(\(sortKey), \(ascending ? "ascending" : "descending"))" }

    // MARK: NSSecureCoding

    private enum Key {
        static let key = "NSKey"
        static let ascending = "NSAscending"
    }

    func encode(with coder: NSCoder) {
        coder.encode(NSString(string: sortKey), forKey: Key.key)
        coder.encode(ascending, forKey: Key.ascending)
    }

    convenience init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let key = archive.string(Key.key), coder.containsValue(forKey: Key.ascending) else { return nil }
        let isAscending = coder.decodeBool(forKey: Key.ascending)
        guard archive.isIntact else { return nil }
        self.init(key: key, ascending: isAscending)
    }
}

/// Lets `NSSortDescriptor` have initializers that return another class, and a key.
public protocol KeySortDescriptorMaking {}

extension NSSortDescriptor: KeySortDescriptorMaking {}

// For `Self` rather than for the class itself, so that `Self(key:ascending:)` compiles in clients' extensions.
extension KeySortDescriptorMaking where Self: NSSortDescriptor {
    /// Creates a descriptor that sorts by the values of a key, like Foundation's initializer on Apple's platforms.
    ///
    /// ```swift
    /// query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
    /// ```
    ///
    /// Records without a value come first in ascending order.
    public init(key: String?, ascending: Bool) {
        guard let descriptor = KeySortDescriptor(key: key ?? "", ascending: ascending) as? Self else {
            preconditionFailure("A descriptor of a key is a NSSortDescriptor, not a \(Self.self).")
        }
        self = descriptor
    }
}

// Not in an extension of the class: Foundation has a `key` of its own that clients do not see, and the compiler would
// find both in the vtable of a public subclass.
extension KeySortDescriptorMaking where Self: NSSortDescriptor {
    /// The key to sort by; nil for a descriptor created from a key path.
    public var key: String? {
        (self as? KeySortDescriptor)?.sortKey ?? (self as? CKLocationSortDescriptor)?.sortKey
    }
}

extension CKRecord {
    /// The value of a key, in the order of queries.
    subscript(sortedBy key: String) -> SortedValue {
        SortedValue(PredicateObject(self)?.predicateValue(forKey: key))
    }
}

extension SortedValue {
    func order(to other: SortedValue) -> ComparisonResult {
        if self < other { return .orderedAscending }
        return other < self ? .orderedDescending : .orderedSame
    }
}

extension ComparisonResult {
    fileprivate var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}
