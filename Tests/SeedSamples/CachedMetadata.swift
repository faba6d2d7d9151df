import CloudKit

/// A model of an app's own, with what it keeps of the record that it came from.
public final class CachedProduct {
    public var recordMetadata: Data?

    public init() {}
}

/// Keeps what names a record and its version beside the model.
public func keepMetadata(of record: CKRecord, on product: CachedProduct) {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    product.recordMetadata = archiver.encodedData
}

/// Makes the record again, without its fields.
public func recordFromMetadata(of product: CachedProduct) throws -> CKRecord? {
    guard let metadata = product.recordMetadata else { return nil }
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: metadata)
    let record = CKRecord(coder: unarchiver)
    unarchiver.finishDecoding()
    return record
}
