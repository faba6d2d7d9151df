import ReferenceModel
import StrataModel

/// The versions of the store for which those of the model stand, one for one.
package struct VersionTable: Sendable {
    private var toStore: [Version: Version] = [:]
    private var toReference: [Version: Version] = [:]

    package init() {}

    private static func isFixed(_ version: Version) -> Bool {
        version.packed == 0 || version.offset >= ReferenceStore.inventedOffset
    }

    /// False if either is known as something else.
    package mutating func learn(_ reference: Version, _ store: Version) -> Bool {
        if Self.isFixed(reference) { return reference == store }
        if let known = toStore[reference] { return known == store }
        guard toReference[store] == nil else { return false }
        toStore[reference] = store
        toReference[store] = reference
        return true
    }

    package func store(_ version: Version) -> Version {
        if Self.isFixed(version) { return version }
        // What came and went within one request was never seen: no record has that version, under any name.
        return toStore[version]
            ?? Version(offset: 2 * ReferenceStore.inventedOffset + version.offset, eventIndex: version.eventIndex)
    }

    package func areSame(_ reference: Refusal, _ store: Refusal) -> Bool {
        reference.code == store.code && reference.didResetEncryptedData == store.didResetEncryptedData
            && reference.serverVersion.map { self.store($0) } == store.serverVersion
            && reference.baseVersion.map { self.store($0) } == store.baseVersion
    }

    package func translated(_ request: Request) -> Request {
        guard case .modifyRecords(var body) = request.content else { return request }
        for index in body.saves.indices { body.saves[index].base = body.saves[index].base.map { store($0) } }
        var request = request
        request.content = .modifyRecords(body)
        return request
    }
}

// MARK: Answers

extension VersionTable {
    /// Compares the answers to one request, and learns the versions in them.
    ///
    /// - Parameter hasShares: true if the model judges shares, for whose refusals it need not cite a rule.
    package mutating func compare(
        _ expected: Result<RequestResult, Refusal>, _ found: Result<RequestResult, Refusal>,
        _ step: RequestGenerator.Step, hasShares: Bool
    ) throws {
        func fail(_ what: String) -> Divergence {
            Divergence(
                description: """
                    \(what)
                    expected \(expected), rules \(expected.rules)
                    found \(found), rules \(found.rules)
                    \(step)
                    """)
        }
        // What was answered before comes from the log, which keeps no rules.
        var mayBeKept = false
        if case .modifyRecords(let body) = step.request.content { mayBeKept = body.clientToken != nil }
        func areSame(_ left: Refusal, _ right: Refusal) -> Bool {
            // Rules of shares are cited where the store's rules have them.
            self.areSame(left, right)
                && (left.rule == right.rule || left.rule == nil && hasShares || mayBeKept && right.rule == nil)
        }
        switch (expected, found) {
        case (.failure(let left), .failure(let right)):
            guard areSame(left, right) else { throw fail("the request is refused otherwise") }
        case (.success(let left), .success(let right)):
            guard left.saves.count == right.saves.count, left.deletes.count == right.deletes.count else {
                throw fail("there are other items")
            }
            for (left, right) in zip(left.saves, right.saves) {
                switch (left, right) {
                case (.success(let left), .success(let right)):
                    guard learn(left, right) else { throw fail("versions \(left) and \(right) do not agree") }
                case (.failure(let left), .failure(let right)):
                    guard areSame(left, right) else { throw fail("a save is refused otherwise") }
                default: throw fail("a save came out otherwise")
                }
            }
            for (left, right) in zip(left.deletes, right.deletes) {
                switch (left, right) {
                case (nil, nil): break
                case (let left?, let right?):
                    guard areSame(left, right) else { throw fail("a delete is refused otherwise") }
                default: throw fail("a delete came out otherwise")
                }
            }
        default: throw fail("one refuses what the other does")
        }
    }
}

extension Result<RequestResult, Refusal> {
    /// The numbers of the rules by which something failed.
    fileprivate var rules: [String] {
        switch self {
        case .failure(let refusal): [refusal.rule?.number ?? ""]
        case .success(let result):
            result.saves.map { save in
                if case .failure(let refusal) = save { refusal.rule?.number ?? "" } else { "" }
            } + result.deletes.map { $0?.rule?.number ?? "" }
        }
    }
}
