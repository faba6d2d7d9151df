import ReferenceModel
import StrataModel

/// The names in a store of URLs and participants of shares that the model names in its own way: each has one name.
package struct ShareTable: Sendable {
    private var tokens: [String: String] = [:]
    private var participants: [String: String] = [:]

    package init() {}

    private static func learn(_ names: inout [String: String], _ expected: String, _ found: String) -> Bool {
        if expected.isEmpty || found.isEmpty { return expected == found }
        if let known = names[expected] { return known == found }
        guard !names.values.contains(found) else { return false }
        names[expected] = found
        return true
    }

    /// False if the states differ in anything but names, or in names that are known.
    package mutating func learn(_ expected: ShareState, _ found: ShareState) -> Bool {
        guard expected.root == found.root, expected.publicPermission == found.publicPermission,
            expected.allowsAccessRequests == found.allowsAccessRequests, expected.requesters == found.requesters,
            expected.blockedUsers == found.blockedUsers, expected.participants.count == found.participants.count,
            Self.learn(&tokens, expected.urlToken, found.urlToken)
        else { return false }
        return zip(expected.participants, found.participants).allSatisfy { learn($0, $1) }
    }

    private mutating func learn(_ expected: ShareParticipant, _ found: ShareParticipant) -> Bool {
        var (left, right) = (expected, found)
        guard Self.learn(&tokens, left.oneTimeToken, right.oneTimeToken) else { return false }
        if left.role == .owner || left.id.hasPrefix("public-") {
            guard left.role == .owner || participants[left.id] ?? right.id == right.id else { return false }
            if left.role != .owner { participants[left.id] = right.id }
            (left.id, right.id) = ("", "")
        }
        (left.oneTimeToken, right.oneTimeToken) = ("", "")
        return left == right
    }

    package func translated(_ request: Request) -> Request {
        var request = request
        switch request.content {
        case .joinShares(var body):
            body.tokens = body.tokens.map { tokens[$0] ?? String($0.prefix(ShareSavedEvent.maximumTokenBytes)) }
            request.content = .joinShares(body)
        case .modifyRecords(var body):
            for index in body.saves.indices {
                var list = body.saves[index].sharing?.participants
                for (place, sent) in (list ?? []).enumerated() { list?[place].id = participants[sent.id] ?? sent.id }
                body.saves[index].sharing?.participants = list
            }
            request.content = .modifyRecords(body)
        default: break
        }
        return request
    }
}
