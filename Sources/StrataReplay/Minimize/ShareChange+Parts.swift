import StrataModel

extension ShareChange {
    /// A part of the changes to a share that can be left out.
    enum Part: Hashable {
        /// A participant in the list, by place.
        case participant(Int)
        /// A list without participants, which removes all.
        case emptyList
        case publicPermission, accessRequests
        /// The answers to those who ask for access.
        case answers
    }

    var parts: [Part] {
        var parts: [Part] = (participants ?? []).indices.map { .participant($0) }
        if participants?.isEmpty == true { parts.append(.emptyList) }
        if publicPermission != nil { parts.append(.publicPermission) }
        if allowsAccessRequests != nil { parts.append(.accessRequests) }
        if !(denied.isEmpty && blocked.isEmpty && unblocked.isEmpty) { parts.append(.answers) }
        return parts
    }

    /// Without any of its participants, the list does not change.
    mutating func leaveOut(_ isGone: (Part) -> Bool) {
        if let all = participants, !all.isEmpty {
            let kept = all.indices.filter { !isGone(.participant($0)) }.map { all[$0] }
            participants = kept.isEmpty ? nil : kept
        }
        if isGone(.emptyList), participants?.isEmpty == true { participants = nil }
        if isGone(.publicPermission) { publicPermission = nil }
        if isGone(.accessRequests) { allowsAccessRequests = nil }
        if isGone(.answers) { (denied, blocked, unblocked) = ([], [], []) }
    }
}
