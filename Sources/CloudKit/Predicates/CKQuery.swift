import Foundation
import StrataModel
import StrataSystem

/// A query for the records of a type that match a predicate, in an order.
///
/// ```swift
/// let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "price < %d", 20))
/// query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let (matches, cursor) = try await database.records(matching: query)
/// ```
///
/// An empty type or a malformed predicate does not trap: the operation that uses the query fails with
/// `invalidArguments` (B270). Two queries are equal if their types, predicates and orders are.
// @unchecked: the predicate is immutable, and a lock protects the order.
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The type of the records.
    public let recordType: CKRecord.RecordType
    let question: FormatPredicate
    private let order: Lock<Order?>

    /// Creates a query for the records of a type that match a predicate.
    public convenience init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.init(recordType, FormatPredicate.read(predicate), nil)
    }

    private init(_ recordType: String, _ question: FormatPredicate, _ order: [NSSortDescriptor]?) {
        self.recordType = recordType
        self.question = question
        self.order = Lock(order.map(Order.init))
        super.init()
    }

    /// The predicate that records must match.
    public var predicate: NSPredicate { question }

    /// The sort criteria, the most important first; nil for no particular order (B139).
    public var sortDescriptors: [NSSortDescriptor]? {
        get { order.withLock { $0 }?.descriptors }
        set {
            let kept = newValue.map(Order.init)
            order.withLock { $0 = kept }
        }
    }

    // @unchecked: only immutable descriptors are kept.
    private struct Order: @unchecked Sendable {
        let descriptors: [NSSortDescriptor]

        /// Replaces descriptors of other classes by one without a key, which makes the query invalid.
        init(_ descriptors: [NSSortDescriptor]) {
            self.descriptors = descriptors.map { descriptor in
                let isOurs = descriptor is KeySortDescriptor || descriptor is CKLocationSortDescriptor
                return isOurs ? descriptor : KeySortDescriptor(key: "", ascending: true)
            }
        }
    }

    /// The error that makes the query invalid in any database; nil if it is valid.
    var mistake: CKError? {
        if recordType.isEmpty { return CKError(.invalidArguments, message: "The query's record type is empty.") }
        if recordType == CKRecord.SystemType.userRecord {
            return CKError(.invalidArguments, message: "User records cannot be queried; fetch them by their IDs.")
        }
        if let mistake = question.mistake { return CKError(predicate: mistake) }
        if sortDescriptors?.contains(where: { $0.key?.isEmpty != false }) == true {
            return CKError(
                .invalidArguments, message: "A sort descriptor names no key: use NSSortDescriptor(key:ascending:).")
        }
        return nil
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKQuery else { return false }
        return other.recordType == recordType && other.question.isEqual(question)
            && other.sortDescriptors == sortDescriptors
    }

    public override var hash: Int { recordType.hashValue ^ question.hash }

    public override var description: String {
        let order = (sortDescriptors ?? []).map(\.description).joined(separator: ", ")
        return "<CKQuery: \(recordType) where \(question)\(order.isEmpty ? "" : " sorted by \(order)")>"
    }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { CKQuery(recordType, question, sortDescriptors) }

    private enum Key {
        static let recordType = "RecordType"
        static let predicate = "Predicate"
        static let order = "SortDescriptors"
    }

    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: recordType), forKey: Key.recordType)
        coder.encode(question, forKey: Key.predicate)
        if let sortDescriptors { coder.encode(NSArray(array: sortDescriptors), forKey: Key.order) }
    }

    public convenience init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let type = archive.string(Key.recordType),
            let question = archive.object(FormatPredicate.self, Key.predicate)
        else { return nil }
        let order = archive.list(of: NSSortDescriptor.self, Key.order)
        guard archive.isIntact, order != nil || !archive.contains(Key.order) else { return nil }
        self.init(type, question, order)
    }
}

extension CKError {
    /// Creates the error for an invalid predicate, with the position of the mistake.
    init(predicate mistake: StrataError) {
        self.init(.invalidArguments, message: "The predicate cannot be used: \(mistake)", cause: mistake)
    }
}
