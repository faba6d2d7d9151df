/// A change of a record's link to its parent or share.
package enum LinkChange: Sendable, Hashable {
    case kept
    case removed
    case set(RecordKey)
}
