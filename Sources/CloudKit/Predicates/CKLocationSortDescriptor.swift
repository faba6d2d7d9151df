import Foundation
import StrataQuery

/// Sorts records by the distance of a location from a place; the nearest comes first (B140).
///
/// ```swift
/// let here = CLLocation(latitude: 52.52, longitude: 13.40)
/// query.sortDescriptors = [CKLocationSortDescriptor(key: "place", relativeLocation: here)]
/// ```
public final class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding, CVarArg {
    let sortKey: String
    /// The place from which distances are measured.
    public let relativeLocation: CLLocation

    /// Creates a descriptor that sorts by the distance of the location under a key.
    public init(key: String, relativeLocation: CLLocation) {
        sortKey = key
        self.relativeLocation = relativeLocation
        super.init(keyPath: \CKRecord.[distanceOf: key, from: relativeLocation], ascending: true)
    }

    public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let first = SortedValue(distance(of: object1))
        return first.order(to: SortedValue(distance(of: object2)))
    }

    private func distance(of object: Any) -> PredicateValue? {
        PredicateObject(object)?.distance(of: sortKey, from: relativeLocation)
    }

    /// The same descriptor: the order cannot be reversed.
    public override var reversedSortDescriptor: Any { self }
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKLocationSortDescriptor else { return false }
        return other.sortKey.utf8.elementsEqual(sortKey.utf8) && other.relativeLocation.isEqual(relativeLocation)
    }

    public override var hash: Int { Array(sortKey.utf8).hashValue }
    public override var description: String { "(distance of \(sortKey) from \(relativeLocation))" }

    // MARK: NSSecureCoding

    private enum Key {
        static let key = "NSKey"
        static let location = "RelativeLocation"
    }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: sortKey), forKey: Key.key)
        coder.encode(relativeLocation, forKey: Key.location)
    }

    public convenience init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let key = archive.string(Key.key), let location = archive.object(CLLocation.self, Key.location),
            archive.isIntact
        else { return nil }
        self.init(key: key, relativeLocation: location)
    }
}

extension PredicateObject {
    func distance(of key: String, from place: CLLocation) -> PredicateValue? {
        guard case .location(let latitude, let longitude) = predicateValue(forKey: key) else { return nil }
        return .double(CLLocation(latitude: latitude, longitude: longitude).distance(from: place))
    }
}

extension CKRecord {
    /// The distance in meters, in the order of queries.
    subscript(distanceOf key: String, from place: CLLocation) -> SortedValue {
        SortedValue(PredicateObject(self)?.distance(of: key, from: place))
    }
}
