import Foundation
import StrataModel
import StrataQuery
import StrataSystem

/// What to look for: records of a type for which a predicate holds, in an order.
///
/// ```swift
/// let query = CKQuery(recordType: "Book", predicate: NSPredicate(format: "price < %d", 20))
/// query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let (matches, cursor) = try await database.records(matching: query)
/// ```
///
/// An empty type or a malformed predicate does not trap: the operation that uses the query fails with
/// `invalidArguments` (B270). Two are equal if they ask the same.
// @unchecked: the predicate is immutable, what changes lies behind the lock.
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The type of the records.
    public let recordType: CKRecord.RecordType
    let question: FormatPredicate
    private let order: Lock<Order?>

    /// A query for the records of a type for which the predicate holds.
    public convenience init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.init(recordType, FormatPredicate.read(predicate), nil)
    }

    private init(_ recordType: String, _ question: FormatPredicate, _ order: [NSSortDescriptor]?) {
        self.recordType = recordType
        self.question = question
        self.order = Lock(order.map(Order.init))
        super.init()
    }

    /// What must hold for a record.
    public var predicate: NSPredicate { question }

    /// What to sort by, first things first; nil for no order in particular (B139).
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

        /// Of a descriptor that is not ours nothing is kept but that it cannot be asked of a database.
        init(_ descriptors: [NSSortDescriptor]) {
            self.descriptors = descriptors.map { descriptor in
                let isOurs = descriptor is KeySortDescriptor || descriptor is CKLocationSortDescriptor
                return isOurs ? descriptor : KeySortDescriptor(key: "", ascending: true)
            }
        }
    }

    /// What is wrong with the query whatever the database; nil if nothing is.
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
    public override var debugDescription: String { description }

    // MARK: NSSecureCoding, NSCopying

    public static var supportsSecureCoding: Bool { true }
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
    /// A predicate that cannot be asked, and where it goes wrong.
    init(predicate mistake: StrataError) {
        self.init(.invalidArguments, message: "The predicate cannot be used: \(mistake)", cause: mistake)
    }
}
