/// Names in a sentence.
package enum NameList {
    /// The number of names to list; the rest are counted.
    package static let maximumCount = 20

    /// Returns `a, b, c`, or of more than ``maximumCount`` names the first ones and the number of others.
    ///
    /// - Parameters:
    ///   - names: at least the first ones.
    ///   - count: the number of all names.
    package static func text(_ names: some Sequence<String>, of count: Int) -> String {
        let shown = Array(names.prefix(maximumCount))
        let rest = count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Returns `2 records go with it: a, b`.
    package static func companions(_ names: some Sequence<String>, of count: Int) -> String {
        let list = count > 0 ? ": \(text(names, of: count))" : ""
        return "\(count) \(count == 1 ? "record goes" : "records go") with it" + list
    }
}
