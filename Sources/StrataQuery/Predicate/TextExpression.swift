import Foundation
import StrataModel
import StrataSystem

/// A regular expression that predicates match against whole texts.
///
/// Foundation's engine backtracks, and the number of paths may be exponential. When it gives up, it reports no match,
/// so it is stopped long before that with an error.
struct TextExpression {
    static let maximumBytes = 4_096

    private let pattern: String
    private let expression: NSRegularExpression

    /// - Throws: ``StrataError`` `invalidArgument` for a pattern that cannot be parsed.
    init(_ pattern: String, isCaseInsensitive: Bool) throws(StrataError) {
        let count = pattern.utf8.count
        guard count <= Self.maximumBytes else {
            throw StrataError(
                .invalidArgument, "A regular expression is too long.",
                .init(expected: "at most \(Self.maximumBytes) bytes", found: "\(count)"))
        }
        guard let known = CompiledExpressions.expression(pattern, isCaseInsensitive: isCaseInsensitive) else {
            throw StrataError(
                .invalidArgument, "A regular expression is malformed.",
                .init(expected: "ICU's syntax", found: Self.quoted(pattern)))
        }
        self.pattern = pattern
        expression = known
    }

    /// - Throws: ``StrataError`` `tooLarge` if the budget or the engine's memory is exhausted; also errors of the
    ///   budget.
    func matches(_ text: String, _ budget: ExpressionBudget) throws -> Bool {
        var isMatch = false
        var failure: (any Error)?
        var reports = 0
        let whole = NSRange(text.startIndex..., in: text)
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: whole) {
            result, flags, stop in
            if result != nil {
                isMatch = true
                stop.pointee = true
            } else if flags.contains(.internalError) {
                failure = tooHard
            } else if flags.contains(.progress) {
                reports += 1
                do {
                    guard try budget.spend(isOverdrawn: reports > budget.reportsPerText) else { throw tooHard }
                } catch {
                    failure = error
                    stop.pointee = true
                }
            }
        }
        if let failure { throw failure }
        return isMatch
    }

    private var tooHard: StrataError {
        StrataError(
            .tooLarge, "A regular expression takes too many steps; use one with fewer alternatives and repetitions.",
            .init(found: Self.quoted(pattern)))
    }

    private static func quoted(_ pattern: String) -> String { "“\(pattern.prefix(200))”" }
}

/// The budget for the regular expressions of one query, counted in progress reports of Foundation's engine: one per
/// 10,000 steps, which take about 0.25 ms.
final class ExpressionBudget: Sendable {
    /// The maximum number of reports per text. The engine gives up silently after 3,800 or more.
    let reportsPerText: Int
    private let left: Lock<Int>
    private let isCancelled: @Sendable () -> Bool

    init(
        reportsPerText: Int = 1_000, reportsPerQuery: Int = 10_000,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.reportsPerText = reportsPerText
        left = Lock(reportsPerQuery)
        self.isCancelled = isCancelled
    }

    /// Counts a report; returns false if the budget is exhausted.
    ///
    /// - Throws: ``QueryError/cancelled``.
    fileprivate func spend(isOverdrawn: Bool) throws -> Bool {
        if isCancelled() { throw QueryError.cancelled }
        let isSpent = left.withLock { left in
            left -= 1
            return left < 0
        }
        return !isSpent && !isOverdrawn
    }
}

/// A cache of compiled regular expressions, because compiling takes far longer than matching a text.
private enum CompiledExpressions {
    private struct Key: Hashable {
        var pattern: [UInt8]
        var isCaseInsensitive: Bool
    }

    private static let maximumCount = 64
    private static let known = Lock<[Key: NSRegularExpression?]>([:])

    /// Compiles a pattern that matches whole texts; returns nil if it is invalid.
    static func expression(_ pattern: String, isCaseInsensitive: Bool) -> NSRegularExpression? {
        let key = Key(pattern: Array(pattern.utf8), isCaseInsensitive: isCaseInsensitive)
        if let expression = known.withLock({ $0[key] }) { return expression }
        let expression = compile(pattern, isCaseInsensitive ? .caseInsensitive : [])
        known.withLock { known in
            // A caller that uses more patterns than this at a time has them compiled again.
            if known.count >= maximumCount { known.removeAll() }
            known.updateValue(expression, forKey: key)
        }
        return expression
    }

    private static func compile(_ pattern: String, _ options: NSRegularExpression.Options) -> NSRegularExpression? {
        // Compiled on its own first: between the anchors, an unbalanced parenthesis could pair with one of the
        // enclosing group. Foundation rejects an empty pattern, which matches the empty text.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil else {
            return nil
        }
        return try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
    }
}
