/// One record that a request changes.
struct TaskWrite: Sendable {
    enum Kind {
        /// Adds a record.
        case insert
        /// Gives an existing record all values of another version.
        case update
        case delete
    }

    var kind: Kind
    var number: Int
    var version = 0
    /// The private database; 0 is that of the user whom everything but the part about users is about.
    var user = 0

    static func inserts(_ numbers: some Sequence<Int>) -> [TaskWrite] {
        numbers.map { Self(kind: .insert, number: $0) }
    }
}
