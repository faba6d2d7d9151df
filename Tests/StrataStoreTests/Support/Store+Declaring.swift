import StrataStore

extension Store {
    /// Declares an index of one field. Not the suspending `declareIndexes`, also in a test that may suspend.
    func declareIndex(type: String, field: String) throws {
        try declareIndexes(type: type, fields: [(field, .queryable)])
    }
}
