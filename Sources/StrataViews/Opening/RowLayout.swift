/// The layout of a row that holds the body of an event.
enum RowLayout {
    static let body = 40
}
