import StrataModel

/// Groups refused requests and items by cause: the error, and the kind of the request.
struct RefusalScan {
    private struct Cause: Hashable {
        let code: UInt64
        let operation: EnvelopeHeader.OperationKind
    }

    private struct Group {
        let first: ScannedCommit
        var last: ScannedCommit
        var count: UInt64 = 0
        var users: [UInt64: UInt64] = [:]
        var message = ""
    }

    private var groups: [Cause: Group] = [:]

    mutating func add(_ event: RequestRefusedEvent, _ commit: ScannedCommit) {
        let codes = event.culprits.isEmpty ? [event.code] : event.culprits.map(\.code)
        // Items that were refused only because others were are no cause.
        let causes = codes.filter { $0 != Refusal.Code.batchRequestFailed.rawValue }
        for code in causes.isEmpty ? codes : causes { add(code, event.message ?? "", commit) }
    }

    mutating func add(_ shape: RequestShape, _ commit: ScannedCommit) {
        for item in shape.leftOut {
            if let refusal = item.refusal { add(refusal.code.rawValue, refusal.message, commit) }
        }
    }

    private mutating func add(_ code: UInt64, _ message: String, _ commit: ScannedCommit) {
        let cause = Cause(code: code, operation: commit.operation)
        var group = groups[cause] ?? Group(first: commit, last: commit)
        group.last = commit
        group.count += 1
        group.users[commit.author.user, default: 0] += 1
        if !message.isEmpty { group.message = message }
        groups[cause] = group
    }

    func findings(_ names: KnownNames) -> [Finding] {
        groups.map { cause, group in
            let users = group.users.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
            let shown = users.prefix(3).map { $0 == 0 ? LogFilter.systemName : names.shownUser($0) }
            var text =
                "\(RequestRefusedEvent.text(ofCode: cause.code)): \(group.count.counted("item")) of "
                + "\(cause.operation) by \(shown.joined(separator: ", "))"
            if users.count > shown.count { text += " and \((users.count - shown.count).counted("other"))" }
            if !group.message.isEmpty { text += ", last: \(Printable.escaped(group.message))" }
            var finding = Finding(
                .refusals, group.first, people: users.flatMap { names.people($0) }, text, count: group.count,
                next: ["explain", "\(group.last.offset)"], names)
            if group.last.offset != group.first.offset { finding.lastOffset = group.last.offset }
            return finding
        }
    }
}
