import StrataModel
import StrataRules

/// The outcome of a request, without the versions that it made.
public struct RequestOutcome: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        case accepted
        /// Some items were refused, the others accepted.
        case partly
        case nothingToDo = "nothing to do"
        case refused
        /// The request was dropped.
        case dropped
        /// The request cannot be rebuilt from the log, and was not judged.
        case leftOut = "left out"
    }

    /// An item that was refused.
    public struct Item: Sendable, Hashable {
        package var list: RequestShape.List
        public var index: Int
        /// The name of the record, the zone or the subscription.
        public var name: String
        public var refusal: Refusal
    }

    public var kind: Kind
    /// The reason the whole request was refused, unless its items are the reason.
    public var refusal: Refusal?
    public var items: [Item] = []

    init(_ kind: Kind, _ refusal: Refusal? = nil) { (self.kind, self.refusal) = (kind, refusal) }

    /// - Parameter isWritten: true if the request wrote a commit.
    init(_ result: RequestResult, of request: Request, isWritten: Bool) {
        self.init(isWritten ? .accepted : .nothingToDo)
        for (index, save) in result.saves.enumerated() {
            if case .failure(let refusal) = save { add(refusal, of: .saves, index, request) }
        }
        for (index, refusal) in result.deletes.enumerated() {
            if let refusal { add(refusal, of: .deletes, index, request) }
        }
        if !items.isEmpty { kind = isWritten ? .partly : .refused }
    }

    /// Creates the outcome that a commit records.
    init(_ shape: RequestShape, of request: Request) {
        self.init(.accepted)
        for item in shape.leftOut {
            if let refusal = item.refusal { add(refusal, of: item.list, item.index, request) }
        }
        if !items.isEmpty { kind = .partly }
    }

    /// Creates the outcome that an audit records, which has only the error codes of refused items.
    init(_ audit: RequestRefusedEvent, of request: Request) {
        self.init(.refused)
        if audit.culprits.isEmpty {
            refusal = Refusal(.init(rawValue: audit.code), audit.message ?? "")
        }
        for culprit in audit.culprits {
            let list: RequestShape.List = culprit.list == .saves ? .saves : .deletes
            let refusal = Refusal(.init(rawValue: culprit.code), "", serverVersion: culprit.version)
            add(refusal, of: list, Int(clamping: culprit.index), request)
        }
    }

    private mutating func add(
        _ refusal: Refusal, of list: RequestShape.List, _ index: Int, _ request: Request
    ) {
        let item = request.item(list, index)
        let name = item?.name ?? item?.zone.flatMap { request.names.zone($0)?.name } ?? ""
        items.append(Item(list: list, index: index, name: name, refusal: refusal))
    }

    /// Adds the rules that another judgment of the same request names, if it refused the same for the same reasons. A
    /// log does not store them.
    mutating func addRules(of judged: RequestOutcome) {
        guard isSame(as: judged) else { return }
        refusal?.rule = judged.refusal?.rule
        for index in items.indices { items[index].refusal.rule = judged.items[index].refusal.rule }
    }

    /// Returns true if the same items had the same outcome, for the same reasons: the same error by the same rule, if
    /// both rules are known, in whatever words.
    public func isSame(as other: RequestOutcome) -> Bool {
        guard kind == other.kind, items.count == other.items.count else { return false }
        guard Self.isSame(refusal, other.refusal) else { return false }
        return zip(items, other.items).allSatisfy { left, right in
            left.list == right.list && left.index == right.index && Self.isSame(left.refusal, right.refusal)
        }
    }

    private static func isSame(_ left: Refusal?, _ right: Refusal?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.code == right.code && (left.rule == nil || right.rule == nil || left.rule == right.rule)
    }
}
