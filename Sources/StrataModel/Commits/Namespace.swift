/// A kind of interned name, by its number on disk (docs/format.md §8). Each namespace has its own ordinals, from 1.
package enum Namespace: UInt8, Sendable, CaseIterable {
    case user = 1, device, database, zone, recordType, field

    package static let count = allCases.count

    /// The index of the namespace in an array with one element per namespace.
    // Applying a record's event reads it several times. Unlike a raw value, it is inlined into other modules.
    @inlinable package var index: Int {
        switch self {
        case .user: 0
        case .device: 1
        case .database: 2
        case .zone: 3
        case .recordType: 4
        case .field: 5
        }
    }

    /// The word for the namespace in errors and reports.
    package var noun: String {
        self == .recordType ? "record type" : key.description
    }
}
