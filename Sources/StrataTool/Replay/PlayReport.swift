import StrataModel
import StrataReplay
import StrataStore

/// Prints a replayed history: each commit, followed by the changes and notifications that a device receives.
struct PlayReport {
    private let playback: Playback
    private let isJSON: Bool
    private let output: Output
    private let box: PushQueue?
    private var feeds: [PlayedFeed] = []

    /// - Parameter actor: the receiver of changes and notifications; nil for none.
    init(_ playback: Playback, as actor: Actor?, isJSON: Bool, to output: Output) throws {
        (self.playback, self.isJSON, self.output) = (playback, isJSON, output)
        box = try actor.map { try playback.store.listen(as: $0) }
        if let actor { feeds = try [.private, .shared].map { try PlayedFeed(playback.store, $0, as: actor) } }
        if actor != nil { playback.store.awaitNotifications() }
    }

    /// Writes a commit that has just been replayed.
    mutating func write(_ commit: PlayedCommit) throws {
        try isJSON ? output.writeJSON(commit) : writeText(commit)
        guard box != nil else { return }
        let state = ContainerState(playback.store)
        for index in feeds.indices {
            for change in try feeds[index].changes() {
                try isJSON ? writeJSON(change, state) : writeText(change, state)
            }
        }
        while let push = box?.takeWaiting() {
            try isJSON ? output.writeJSON((push, state), as: Self.push) : writeText(push, state)
        }
    }

    // MARK: For people

    private func writeText(_ commit: PlayedCommit) throws {
        output.write("\(commit.offset)", .heading)
        output.write(" " as StaticString)
        output.write(Timestamp(microseconds: commit.time))
        output.write(" " as StaticString)
        if let actor = commit.actor {
            output.write("\(Printable.escaped(actor.user)) on \(Printable.escaped(actor.device))")
        } else {
            output.write("the service" as StaticString)
        }
        try output.writeLine(": \(commit.eventCount.counted("event"))")
    }

    private func writeText(_ change: PlayedFeed.Change, _ state: ContainerState) throws {
        switch change {
        case .changed(let record):
            let values = try RecordDetail(record, in: state).valuesText()
            output.write("    changed  \(try Self.text(record.id, state)), \(Printable.escaped(try record.type))")
            if !values.isEmpty { output.write("  \(values)") }
        case .deleted(let id, let type):
            output.write("    deleted  \(try Self.text(id, state)), \(Printable.escaped(type))")
        case .zoneDeleted(let zone, let reason):
            output.write("    deleted  zone \(try state.shownText(of: zone)), \(reason.name)")
        }
        try output.endLine()
    }

    private func writeText(_ push: Push, _ state: ContainerState) throws {
        output.write("    push     \(Printable.escaped(push.subscriptionID)): ")
        switch push.subject {
        case .database: output.write("database \(push.scope.name)")
        case .zone(let zone): output.write("zone \(try state.shownText(of: zone))")
        case .record(let id, let reason): output.write("\(try Self.text(id, state)) \(reason)")
        }
        for key in push.fields.keys.sorted() {
            guard let value = push.fields[key] else { continue }
            output.write("  \(Printable.escaped(key))=\(try Self.detail(push, state).text(of: value))")
        }
        if let badge = push.badge { output.write(", badge \(badge)") }
        try output.endLine()
    }

    /// `Notes/milk`, in the shared database `Notes of anna/milk`.
    private static func text(_ id: RecordID, _ state: ContainerState) throws -> String {
        "\(try state.shownText(of: id.zone))/\(Printable.escaped(id.name))"
    }

    private static func detail(_ push: Push, _ state: ContainerState) -> ValueDetail {
        guard case .record(let id, _) = push.subject else { return ValueDetail(state: state, zone: "") }
        return ValueDetail(state: state, zone: id.zone.name)
    }

    // MARK: For programs

    private func writeJSON(_ change: PlayedFeed.Change, _ state: ContainerState) throws {
        switch change {
        case .changed(let record):
            var detail = try RecordDetail(record, in: state)
            detail.isChange = true
            try output.writeJSON(detail)
        case .deleted(let id, let type):
            try output.writeJSON(FeedChange(id, type: type, of: state.owner(of: id.zone)))
        case .zoneDeleted(let zone, let reason):
            try output.writeJSON(FeedChange(zone: zone, of: state.owner(of: zone), reason: reason))
        }
    }

    static let push = Shape<(push: Push, state: ContainerState)>("A notification that is played") {
        Key("push", "its ID, the same each time it is made") { $0.push.id }
        Key("subscription", "ID of the subscription that fired") { $0.push.subscriptionID }
        Key("database", "`private`, `shared` or `public`") { $0.push.scope.name }
        Key("offset", "the commit that it reports") { $0.push.version.offset }
        Key("zone", "name of the zone", if: "not for a subscription to a database") {
            switch $0.push.subject {
            case .zone(let zone): zone.name
            case .record(let id, _): id.zone.name
            case .database: nil
            }
        }
        Key("record", "name of the record", if: "for a subscription to a query") {
            if case .record(let id, _) = $0.push.subject { id.name } else { nil }
        }
        Key("reason", "`created`, `updated` or `deleted`", if: "for a subscription to a query") {
            if case .record(_, let reason) = $0.push.subject { "\(reason)" } else { nil }
        }
        Key("badge", "the number on the app's badge", if: "if it goes up") { $0.push.badge }
        Key("fields", "the values that the notification asks for, in full", if: "if there are any") {
            line -> ValueMap? in
            let fields = line.push.fields.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
            return fields.isEmpty ? nil : ValueMap(fields: fields, detail: detail(line.push, line.state))
        }
    }
}

extension PlayedCommit: Shaped {
    static let shape = Shape<Self>(
        "A commit that is played",
        "The line before the changes and notifications that a device receives after the commit."
    ) {
        Key("offset", "of the commit") { $0.offset }
        Key("time", "when it was made") { $0.time }
        Key("userName", "the user who made it", if: "if it was not the service") { $0.actor?.user }
        Key("deviceName", "the device that made it", if: "if it was not the service") { $0.actor?.device }
        Key("events", "how many it has") { $0.eventCount }
    }
}
