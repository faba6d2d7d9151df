import Foundation
import StrataModel
import StrataQuery

/// The predicate that `NSPredicate(format:)` creates on Linux, with its parsed format. Immutable.
///
/// The predicate for a malformed format keeps the mistake. It matches nothing, and a query with it fails with
/// `invalidArguments` (B270).
final class FormatPredicate: NSPredicate, SecurelyCoded {
    /// The parsed format, or its mistake.
    let content: Result<PredicateTree, StrataError>
    /// The original text, used if it could not be parsed.
    private let format: String

    init(format: String, arguments: [PredicateArgument]) {
        content = Result { () throws(StrataError) in try PredicateParser.parse(format, arguments) }
        self.format = format
        super.init(value: false)
    }

    init(_ content: Result<PredicateTree, StrataError>) {
        self.content = content
        format = ""
        super.init(value: false)
    }

    var tree: PredicateTree? { try? content.get() }

    var mistake: StrataError? {
        guard case .failure(let error) = content else { return nil }
        return error
    }

    override var predicateFormat: String { tree.map(PredicateWriter.text) ?? format }
    override var description: String { predicateFormat }

    override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        guard let tree, let subject = PredicateObject(object) else { return false }
        let variables = (bindings ?? [:]).compactMapValues { PredicateArgument($0).value }
        let now = Date().timeIntervalSinceReferenceDate
        // There is no way to report that a regular expression took too many steps.
        return (try? PredicateEvaluator(subject: subject, variables: variables, now: now).holds(tree)) ?? false
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FormatPredicate else { return false }
        // Texts that are equal in Swift may differ in their bytes, and so in what they match.
        return other.predicateFormat.utf8.elementsEqual(predicateFormat.utf8)
            && other.mistake?.description == mistake?.description
    }

    override var hash: Int { Array(predicateFormat.utf8).hashValue }

    // MARK: NSSecureCoding

    private enum Key {
        static let format = "NSPredicateFormat"
        static let mistake = "Mistake"
    }

    func encode(with coder: NSCoder) {
        coder.encode(NSString(string: predicateFormat), forKey: Key.format)
        coder.encode(mistake != nil, forKey: Key.mistake)
    }

    init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let format = archive.string(Key.format), archive.isIntact else { return nil }
        let content = Result { () throws(StrataError) in try PredicateParser.parse(format) }
        let wasMistake = coder.decodeBool(forKey: Key.mistake)
        guard archive.isIntact else { return nil }
        // A format that was valid when archived must still be valid.
        if case .failure = content, !wasMistake { return nil }
        let isMistakeOfArguments = wasMistake && (try? content.get()) != nil
        let unreadable = StrataError.predicate(at: nil, expected: "other arguments", found: "“\(format.prefix(40))”")
        self.content = isMistakeOfArguments ? .failure(unreadable) : content
        self.format = format
        super.init(value: false)
    }
}

extension FormatPredicate {
    /// Converts any predicate, part by part.
    ///
    /// A predicate of Foundation can only be a constant, a compound, or a block, which cannot be inspected (B122).
    static func read(_ predicate: NSPredicate) -> FormatPredicate {
        if let own = predicate as? FormatPredicate { return own }
        return FormatPredicate(Result { () throws(StrataError) in try tree(of: predicate, depth: 1) })
    }

    private static func tree(of predicate: NSPredicate, depth: Int) throws(StrataError) -> PredicateTree {
        if let own = predicate as? FormatPredicate { return try own.content.get() }
        guard depth <= PredicateTree.maximumDepth else {
            throw StrataError.predicate(
                at: nil, expected: "at most \(PredicateTree.maximumDepth) levels", found: "deeper nesting")
        }
        if let compound = predicate as? NSCompoundPredicate { return try tree(ofCompound: compound, depth: depth) }
        for isTrue in [true, false] where predicate.isEqual(NSPredicate(value: isTrue)) { return .constant(isTrue) }
        throw StrataError(
            .malformed, "A database cannot evaluate a predicate made from a block; use NSPredicate(format:).")
    }

    private static func tree(
        ofCompound compound: NSCompoundPredicate, depth: Int
    ) throws(StrataError) -> PredicateTree {
        var parts: [PredicateTree] = []
        for part in compound.subpredicates { parts.append(try tree(of: part, depth: depth + 1)) }
        let joined: PredicateTree =
            switch (compound.compoundPredicateType, parts.count) {
            case (.not, 1): .not(parts[0])
            case (.not, _): throw .predicate(at: nil, expected: "one predicate for NOT", found: "\(parts.count)")
            case (_, 1): parts[0]
            case (.and, 0): .constant(true)
            case (.or, 0): .constant(false)
            case (.and, _): .and(parts)
            case (.or, _): .or(parts)
            }
        guard joined.depth <= PredicateTree.maximumDepth else {
            throw .predicate(
                at: nil, expected: "at most \(PredicateTree.maximumDepth) levels", found: "deeper nesting")
        }
        return joined
    }
}
