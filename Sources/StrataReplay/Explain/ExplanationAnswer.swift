import StrataModel
import StrataStore

/// The answer to a request, as its commit or its audit records it.
struct ExplanationAnswer {
    /// The place of an item in a request.
    private struct Place: Hashable {
        let list: RequestShape.List
        let index: Int
    }

    /// The answer to an item.
    private enum Item {
        case accepted(Version?)
        case refused(Refusal.Code, message: String?, Version?)
    }

    let outcome: Explanation.Outcome
    /// The reason for which the whole request was refused; nil if it was not.
    private(set) var code: Refusal.Code?
    private(set) var message: String?
    /// The number of records to delete, none of which existed; 0 for other requests.
    private var missingCount: UInt64 = 0
    private var items: [Place: Item] = [:]

    init(of commit: ExplainedCommit, in store: Store) throws {
        if let audit = commit.event(.requestRefused) {
            outcome = .refused
            try read(RequestRefusedEvent(decoding: audit.body))
        } else if let audit = commit.event(.nothingToDelete) {
            outcome = .nothingToDo
            missingCount = try NothingToDeleteEvent(decoding: audit.body).count
        } else if commit.envelope.header.requestShape.isEmpty {
            outcome = .withoutRequest
        } else {
            let result = try store.result(of: commit.commit)
            outcome = result.isRefusedInPart ? .acceptedInPart : .accepted
            read(result)
        }
    }

    private mutating func read(_ refused: RequestRefusedEvent) {
        if refused.culprits.isEmpty { (code, message) = (Refusal.Code(rawValue: refused.code), refused.message) }
        for culprit in refused.culprits {
            let place = Place(list: culprit.list == .saves ? .saves : .deletes, index: Int(clamping: culprit.index))
            items[place] = .refused(Refusal.Code(rawValue: culprit.code), message: nil, culprit.version)
        }
    }

    private mutating func read(_ result: RequestResult) {
        for (index, save) in result.saves.enumerated() {
            let place = Place(list: .saves, index: index)
            switch save {
            case .success(let version): items[place] = .accepted(version)
            case .failure(let refusal):
                items[place] = .refused(refusal.code, message: refusal.message, refusal.serverVersion)
            }
        }
        for (index, refusal) in result.deletes.enumerated() {
            guard let refusal else { continue }
            items[Place(list: .deletes, index: index)] = .refused(
                refusal.code, message: refusal.message, refusal.serverVersion)
        }
    }

    /// Gives each item of the explained request its answer.
    func fill(_ explanation: inout Explanation) {
        for index in explanation.items.indices { answer(&explanation.items[index]) }
    }

    /// Adds the items that the answer names, for a request that is not known.
    func addItems(to explanation: inout Explanation) {
        let places = items.keys.sorted { ($0.list.rawValue, $0.index) < ($1.list.rawValue, $1.index) }
        explanation.items = places.map { place in
            var item = Explanation.Item(place.list, place.index, name: "")
            answer(&item)
            return item
        }
        if missingCount > 0 {
            explanation.rules = [
                ExplanationRule(.deleteOfMissingRecord, finding: "\(missingCount) records were to be deleted")
            ]
        }
    }

    private func answer(_ item: inout Explanation.Item) {
        switch items[Place(list: item.list, index: item.index)] {
        case .accepted(let version): item.made = version
        case .refused(let code, let message, let version):
            (item.code, item.message, item.stored) = (code, message, version)
        case nil: break
        }
    }
}

extension RequestResult {
    fileprivate var isRefusedInPart: Bool {
        deletes.contains { $0 != nil }
            || saves.contains { save in
                if case .failure = save { true } else { false }
            }
    }
}
