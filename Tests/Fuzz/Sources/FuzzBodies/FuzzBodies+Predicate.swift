import StrataModel
import StrataQuery

extension FuzzBodies {
    /// Any bytes as a predicate's format: reading gives a tree or an error; what is read prints as text that reads as
    /// the same tree, and can be judged by both dialects.
    ///
    /// - Returns: whether it was a predicate.
    @discardableResult
    package static func predicate(_ input: UnsafeRawBufferPointer) -> Bool {
        let format = String(decoding: input, as: UTF8.self)
        let arguments: [PredicateArgument] = [.value(.int64(7)), .value(.string("k")), .value(.list([.double(0.5)]))]
        guard let tree = try? PredicateParser.parse(format, arguments) else { return false }
        let printed = PredicateWriter.text(of: tree)
        if printed.utf8.count <= 60_000 {
            precondition((try? PredicateParser.parse(printed)) == tree, "what is printed reads as the same")
        }
        for dialect in [PredicateDialect.cloudKit, .extended] { try? PredicateCheck(dialect).check(tree) }
        return true
    }
}
