import StrataModel
import StrataReplay
import StrataStore

/// Writes the subscriptions considered for a commit for people.
extension NotificationExplanation {
    func write(to output: Output) throws {
        output.write("commit \(offset)", .heading)
        output.write("  " as StaticString)
        output.write(Timestamp(microseconds: time))
        try output.writeLine("  " + actor.shownText)
        for change in changes.prefix(Self.mostChanges) { try output.writeLine(indented: change.shownText) }
        if changes.count > Self.mostChanges {
            try output.writeLine(indented: "and \(changes.count - Self.mostChanges) more")
        }
        for one in subscriptions { try write(one, to: output) }
        for device in devices { try write(device, to: output) }
        for note in notes { try output.writeLine(indented: "note: " + note) }
    }

    private static let mostChanges = 20

    private func write(_ one: SubscriptionEvaluation, to output: Output) throws {
        let subscription = one.subscription
        output.write("subscription ")
        output.write(Printable.escaped(subscription.id), .heading)
        output.write("  \(Printable.escaped(one.user)), \(one.database.shownText), \(subscription.kind.name)")
        if let type = subscription.recordType { output.write(" of " + Printable.escaped(type)) }
        if let zone = subscription.zone { output.write(" in " + Printable.escaped(zone.name)) }
        if !subscription.predicate.isEmpty { output.write(" where " + Printable.escaped(subscription.predicate)) }
        if !subscription.options.isEmpty {
            output.write(" on " + subscription.options.names.joined(separator: ", "))
        }
        output.write("  ")
        try output.writeLine(one.fires ? "fires" : "does not fire", one.fires ? .added : .removed)
        if let saved = one.saved { try output.writeLine(indented: "saved by commit \(saved.offset)") }
        if let fired = one.firedBy { try output.writeLine(indented: "fired once, for commit \(fired.offset)") }
        // One line for each reason, with the first change to which it applies.
        var told: [String] = []
        for finding in one.findings {
            let text = finding.verdict.text + Self.predicateText(finding)
            if told.contains(text) { continue }
            told.append(text)
            let count = one.findings.count { $0.verdict.text + Self.predicateText($0) == text }
            let more = count > 1 ? ", and \(count - 1) more" : ""
            try output.writeLine(indented: "\(changes[finding.change].shownText)\(more): \(text)")
        }
    }

    private static func predicateText(_ finding: SubscriptionEvaluation.Finding) -> String {
        func text(_ holds: Bool) -> String { holds ? "held" : "did not hold" }
        var parts: [String] = []
        if let before = finding.heldBefore { parts.append("before it the predicate \(text(before))") }
        if let after = finding.holdsAfter { parts.append("after it the predicate \(text(after))") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private func write(_ device: NotificationExplanation.Device, to output: Output) throws {
        output.write("device \(Printable.escaped(device.name)) of \(Printable.escaped(device.user))  ")
        var parts: [String] = []
        if device.isOrigin { parts.append("made the commit, so it is not notified") }
        if !device.isKnown { parts.append("had not been seen by then") }
        if let through = device.toldThrough {
            parts.append(
                through >= offset
                    ? "has been notified of everything up to \(through)" : "has been notified only up to \(through)")
            if let noted = device.notedBy { parts.append("commit \(noted) notes this one") }
        } else {
            parts.append("no notification to it is recorded")
        }
        try output.writeLine(parts.joined(separator: "; "))
    }
}

extension SubscriptionEvaluation.Change {
    fileprivate var shownText: String {
        let place = Printable.escaped(zone.name)
        if isOfZone { return "zone \(place) changed" }
        let ofType = type.map { " of type " + Printable.escaped($0) } ?? ""
        guard let record, let reason else { return "a record\(ofType) in \(place) got a new tag" }
        return "\(place)/\(Printable.escaped(record))\(ofType) \(reason)"
    }
}

extension SubscriptionVerdict {
    var text: String {
        switch self {
        case .fires: "fires"
        case .otherDatabase: "another database"
        case .otherZone: "another zone"
        case .otherType: "another record type"
        case .defaultZone: "in default zones only query subscriptions fire"
        case .zoneItself: "the zone changed, not a record"
        case .noRecord: "no record was saved or deleted"
        case .savedLater: "the subscription was saved later"
        case .toldAlready: "it has fired for the commit already"
        case .notAsked: "its options do not include this change"
        case .predicateFails: "its predicate does not hold"
        case .notReadable: "its user may not read the record"
        case .predicateDoesNotFit: "its predicate no longer fits the existing data"
        case .stateIsGone: "the state to check its predicate on was compacted or erased"
        case .usedUp: "it fires only once, and has fired"
        case .nobodyElse: "it fires only once, and the user's only device made the change itself"
        }
    }
}
