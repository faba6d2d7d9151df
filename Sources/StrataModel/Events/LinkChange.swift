/// A change of a record's link to its parent or share.
public enum LinkChange: Sendable, Hashable {
    case kept
    case removed
    case set(RecordKey)
}
